// What the door takes, and what it says to requests that are no calls.
internal import GRPCCore
@testable internal import HTTPDoor
internal import HTTPTypes
internal import NIOCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing

struct ConnectDoorTests {
    private func door(_ calls: ConnectCalls, origins: [String] = []) -> ConnectDoor {
        ConnectDoor(calls: calls, corsOrigins: origins)
    }

    private func calls() throws -> ConnectCalls {
        try ConnectCalls(Sightline_V1_ExplainDeliveryResponse())
    }

    @Test("it takes the paths of our package, and leaves others")
    func takes() throws {
        let door = self.door(try self.calls())
        #expect(door.takes(DoorRequest(method: .put, path: Sent.explain)))
        #expect(door.takes(DoorRequest(method: .post, path: "/sightline.v1.Nothing/At")))
        for path in ["/", "/v1/events", "/sightline.v2.A/B", "/grpc.health.v1.Health/Check", ""] {
            #expect(!door.takes(DoorRequest(method: .post, path: path)))
        }
    }

    @Test(
        "an unknown content type is answered with those that are known",
        arguments: [
            "", "text/plain", "application/xml", "application/jsonx", "application/grpc",
            "application/grpc+proto", "application/grpc-web+json", "application/grpc-webx",
            "application/connect+xml", "application/connect+json", "application/connect+proto",
        ])
    func contentTypes(_ type: String) async throws {
        let calls = try self.calls()
        let response = await self.door(calls).answer(Sent.post(Sent.explain, type, "{}".utf8))
        #expect(response.status.code == 415 && calls.calls.isEmpty)
        #expect(response.headers[named: "accept-post"]?.contains("application/json") == true)
        #expect(
            response.text.contains("gRPC port")
                == (type.hasPrefix("application/grpc") && !type.hasPrefix("application/grpc-")))
    }

    @Test("a stream of Connect ends at once, with words that say where streams are")
    func stream() async throws {
        let path = "/sightline.v1.TrackingService/StreamEvents"
        let response = await self.door(try self.calls()).answer(
            Sent.post(path, "application/connect+json", [0, 0, 0, 0, 2] + Array("{}".utf8)))
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "application/connect+json")
        var body = response.body
        #expect(body.readInteger(as: UInt8.self) == 2)
        #expect(body.readInteger(as: UInt32.self).map(Int.init) == body.readableBytes)
        let text = String(buffer: body)
        #expect(text.hasPrefix(#"{"error":{"code":"unimplemented""#) && text.contains("gRPC port"))
    }

    @Test(
        "other methods than GET and POST are refused", arguments: ["PUT", "HEAD", "OPTIONS", "X"])
    func methods(_ name: String) async throws {
        let method = try #require(HTTPRequest.Method(name))
        let calls = try self.calls()
        let response = await self.door(calls).answer(
            DoorRequest(method: method, path: Sent.explain))
        #expect(response.status.code == 405 && response.headers[.allow] == "GET, POST")
        let recording = await self.door(calls).answer(
            DoorRequest(method: method, path: "/sightline.v1.TrackingService/RecordEvents"))
        #expect(recording.status.code == 405 && recording.headers[.allow] == "POST")
        #expect(calls.calls.isEmpty)
    }

    @Test("a page that may call gets its preflight and can read its answers")
    func pages() async throws {
        let door = self.door(try self.calls(), origins: ["https://a.example"])
        let preflight = await door.answer(
            DoorRequest(
                method: .options, path: Sent.explain,
                headers: [.origin: "https://a.example", .accessControlRequestMethod: "POST"]))
        #expect(preflight.status == .noContent)
        for body in ["{}", "{"] {
            let response = await door.answer(
                Sent.post(
                    Sent.explain, "application/json", body.utf8, [.origin: "https://a.example"]))
            #expect(response.headers[.accessControlAllowOrigin] == "https://a.example")
        }
    }
}
