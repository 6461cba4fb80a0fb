// The table of methods and the protos, held together; and the limits on JSON.
internal import GRPCCore
@testable internal import HTTPDoor
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing
internal import TrackingRules

struct ConnectMethodTests {
    /// The services that a backend implements, and the server calls.
    private static let ofOthers = ["SinkService"]

    @Test("each unary method of the protos is in the table, and GET is for those that say so")
    func table() throws {
        var found: [String: Bool] = [:]
        for file in try DescriptorSet.files() where file.package == "sightline.v1" {
            for service in file.service where !Self.ofOthers.contains(service.name) {
                for method in service.method where !method.clientStreaming {
                    guard !method.serverStreaming else { continue }
                    found["/sightline.v1.\(service.name)/\(method.name)"] =
                        method.options.idempotencyLevel == .noSideEffects
                }
            }
        }
        let table = ConnectMethod.all.map { ($0.path, $0.hasNoSideEffects) }
        #expect(found == Dictionary(uniqueKeysWithValues: table))
    }

    @Test(
        "a method that streams, and one that is unknown, says where to go",
        arguments: [
            ("TrackingService/StreamEvents", "RecordEvents here"),
            ("TapService/Tap", "gRPC port"), ("TrackingService/Nothing", "RecordEvents,"),
            ("TrackingService/recordevents", "RecordEvents,"),
            ("TrackingService/RecordEvents/", "RecordEvents,"), ("", "RecordEvents,"),
        ])
    func elsewhere(_ path: String, _ words: String) {
        #expect {
            try ConnectMethod.at("/sightline.v1." + path)
        } throws: { error in
            let refusal = error as? ConnectRefusal
            return refusal?.reason == .unimplemented && refusal?.message.contains(words) == true
        }
    }

    private func refusal(_ json: String) throws -> ConnectRefusal? {
        do throws(ConnectRefusal) {
            _ = try ConnectMethod.at(Sent.record).request(fromJSON: Array(json.utf8))
        } catch { return error }
        return nil
    }

    @Test("an unknown field is named, and not shown whole if it is long")
    func unknownField() throws {
        let refusal = try #require(try self.refusal(#"{"events":[{"pusch":{}}]}"#))
        #expect(refusal.reason == .requestMalformed && refusal.message.contains("\"pusch\""))
        let long = String(repeating: "x", count: 100_000)
        let short = try #require(try self.refusal("{\"\(long)\":1}"))
        #expect(short.message.utf8.count < 400)
    }

    @Test(
        "what is no JSON of the message is refused",
        arguments: [
            "", "[]", "{", "null", #"{"events":{}}"#, #"{"events":[null]}"#, "{}{}",
            #"{"events":[{"consent":"CONSENT_MAYBE"}]}"#,
            #"{"events":[{"push":{"raw":{"json":"{\"a\":1}"}}}]}"#, "\u{feff}{}",
        ])
    func noJSON(_ json: String) throws {
        #expect(try self.refusal(json)?.reason == .requestMalformed)
    }

    @Test("a text has 32,768 objects at most")
    func objects() throws {
        func events(_ count: Int) -> String {
            "{\"events\":[" + repeatElement("{}", count: count).joined(separator: ",") + "]}"
        }
        #expect(try self.refusal(events(ConnectMethod.maxObjects - 1)) == nil)
        #expect(
            try self.refusal(events(ConnectMethod.maxObjects))?.reason == .requestTooLarge)
    }

    @Test("a name in a text has 384 bytes at most, as it is written")
    func names() throws {
        func fields(_ name: String) -> String {
            "{\"events\":[{\"inApp\":{\"appData\":{\"\(name)\":\"\"}}}]}"
        }
        let longest = String(repeating: "\\u0061", count: Limits.mapKeyBytes)
        #expect(try self.refusal(fields(longest)) == nil)
        #expect(try self.refusal(fields(longest + "a"))?.reason == .requestTooLarge)
    }

    @Test("a raw payload is base64 in JSON, as protobuf has it")
    func rawPayload() throws {
        let json = #"{"events":[{"push":{"raw":{"json":"e30="}}}]}"#
        let bytes = try ConnectMethod.at(Sent.record).request(fromJSON: Array(json.utf8))
        let request = try Sightline_V1_RecordEventsRequest(serializedBytes: bytes)
        #expect(request.events.first?.push.raw.json.elementsEqual("{}".utf8) == true)
    }
}
