// Connect's unary calls by POST and by GET: what the service gets, and what the client gets.
internal import Foundation
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import HTTPDoor
internal import HTTPTypes
internal import NIOCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization
internal import Testing
internal import WireFormat

struct ConnectUnaryTests {
    private static let explained = Sightline_V1_ExplainDeliveryResponse.with {
        $0.truncated = true
    }

    private func door(_ calls: ConnectCalls) -> ConnectDoor {
        ConnectDoor(calls: calls, corsOrigins: [])
    }

    /// The code in a refusal's body, and its status.
    private func refusal(_ request: DoorRequest) async throws -> (code: String, status: Int) {
        let calls = try ConnectCalls(Self.explained)
        let response = await self.door(calls).answer(request)
        #expect(calls.calls.isEmpty)
        return (try response.json()["code"] as? String ?? "", response.status.code)
    }

    @Test(
        "where credentials are refused, no body is read",
        arguments: [
            "application/json", "application/proto", "application/grpc-web+proto",
            "application/grpc-web-text",
        ])
    func refused(_ type: String) async throws {
        let calls = try ConnectCalls(Self.explained)
        calls.refusal.withLock {
            $0 = DoorAnswer(message: nil, status: Status(code: .unauthenticated, message: "no"))
        }
        let response = await self.door(calls).answer(Sent.post(Sent.record, type, "{".utf8))
        if type.contains("web") {
            let name = try #require(HTTPField.Name("grpc-status"))
            #expect(response.status == .ok && response.headers[name] == "16")
        } else {
            #expect(response.status == .unauthorized)
        }
        let read = await self.door(calls).answer(Sent.get(Sent.explain, "no query"))
        #expect(read.status == .unauthorized && calls.calls.isEmpty)
    }

    @Test("a body is decompressed in bulk, and a short one is read at once")
    func bulk() async throws {
        // "{}" by Python's gzip (no time).
        let compressed: [UInt8] = [
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0xae, 0x05, 0x00,
            0x43, 0xbf, 0xa6, 0xa3, 0x02, 0x00, 0x00, 0x00,
        ]
        let bulk = CountingExecutor()
        let door = ConnectDoor(
            calls: try ConnectCalls(Self.explained), corsOrigins: [], bulk: bulk)
        let short = await door.answer(Sent.post(Sent.explain, "application/json", "{}".utf8))
        #expect(short.status == .ok && bulk.count == 0)
        var request = Sent.post(Sent.explain, "application/json", compressed)
        request.headers[.contentEncoding] = "gzip"
        #expect(await door.answer(request).status == .ok)
        #expect(bulk.count == 1)
        let query = "encoding=proto&base64=1&message="
        _ = await door.answer(Sent.get(Sent.explain, query + "CgQ1NmM0"))
        #expect(bulk.count == 1)
        let gzip = Sent.deliveryGzip.replacing("+", with: "%2B")
        let read = await door.answer(Sent.get(Sent.explain, query + gzip + "&compression=gzip"))
        #expect(read.status == .ok && bulk.count == 2)
    }

    @Test("a long text is decompressed and decoded in one job, so none waits decompressed")
    func oneJob() async throws {
        // `deliveryJSON` with 64 KiB of spaces before its end, by Python's gzip (no time).
        let compressed =
            "H4sIAAAAAAACA+3BsQ2AIBAAwFXIz4AUbuAcQGFCRWFiiLvLIHe3ovVxP32+V4szjlJzJ"
            + String(repeating: "A", count: 84) + "Ni+HwUHgFEVAAEA"
        let calls = try ConnectCalls(Self.explained)
        let bulk = CountingExecutor()
        let door = ConnectDoor(calls: calls, corsOrigins: [], bulk: bulk)
        let response = await door.answer(
            Sent.post(
                Sent.explain, "application/json", try #require(Base64.decode(compressed.utf8)),
                [.contentEncoding: "gzip"]))
        #expect(response.status == .ok && bulk.count == 1)
        #expect(calls.calls.map(\.message) == [ByteBuffer(bytes: Sent.deliveryBytes)])
    }

    @Test("a call in JSON is answered in JSON")
    func json() async throws {
        let calls = try ConnectCalls(Self.explained)
        let response = await self.door(calls).answer(
            Sent.post(Sent.explain, "application/json", Sent.deliveryJSON.utf8))
        #expect(response.status == .ok && response.text == #"{"truncated":true}"#)
        #expect(response.headers[.contentType] == "application/json")
        let call = try #require(calls.calls.first)
        #expect(call.message == ByteBuffer(bytes: Sent.deliveryBytes))
        #expect(call.method == Sightline_V1_TrackingService.Method.ExplainDelivery.descriptor)
    }

    @Test("a call in protobuf is passed on byte for byte, and so is its answer")
    func proto() async throws {
        let calls = try ConnectCalls(Self.explained)
        let response = await self.door(calls).answer(
            Sent.post(
                Sent.explain, "Application/Proto; a=b", Sent.deliveryBytes + [0xfa, 0x7f, 0]))
        #expect(response.status == .ok && response.bytes == [0x18, 1])
        #expect(response.headers[.contentType] == "application/proto")
        #expect(
            calls.calls.first?.message == ByteBuffer(bytes: Sent.deliveryBytes + [0xfa, 0x7f, 0]))
    }

    @Test("a body may be compressed, and an empty one is no message in JSON")
    func bodies() async throws {
        let calls = try ConnectCalls(Self.explained)
        let gzip = try #require(Base64.decode(Sent.deliveryGzip.utf8))
        let response = await self.door(calls).answer(
            Sent.post(Sent.explain, "application/proto", gzip, [.contentEncoding: "gzip"]))
        #expect(response.status == .ok)
        #expect(calls.calls.first?.message == ByteBuffer(bytes: Sent.deliveryBytes))
        let empty = await self.door(calls).answer(
            Sent.post(Sent.explain, "application/proto", [], [.contentEncoding: "gzip"]))
        #expect(empty.status == .ok && calls.calls.last?.message.readableBytes == 0)
        #expect(
            try await self.refusal(Sent.post(Sent.explain, "application/json", [])).status == 400)
    }

    @Test("an unknown compression is unimplemented, and the known ones are named")
    func compression() async throws {
        let response = await self.door(try ConnectCalls(Self.explained)).answer(
            Sent.post(Sent.explain, "application/json", "{}".utf8, [.contentEncoding: "br"]))
        #expect(response.status.code == 501)
        let message = try #require(try response.json()["message"] as? String)
        for name in ["br", "gzip", "zstd", "identity"] { #expect(message.contains(name)) }
    }

    @Test("the version of the protocol may be left out, and a wrong one is refused")
    func version() async throws {
        for version in ["1", nil] {
            var request = Sent.post(Sent.explain, "application/json", "{}".utf8)
            request.headers[named: "connect-protocol-version"] = version
            let response = await self.door(try ConnectCalls(Self.explained)).answer(request)
            #expect(response.status == .ok)
        }
        for version in ["2", "", "v1", "1, 1"] {
            var request = Sent.post(Sent.explain, "application/json", "{}".utf8)
            request.headers[named: "connect-protocol-version"] = version
            #expect(try await self.refusal(request) == ("invalid_argument", 400))
        }
    }

    @Test("the deadline is the call's grpc-timeout, whatever else is sent")
    func deadline() async throws {
        let calls = try ConnectCalls(Self.explained)
        var request = Sent.post(Sent.explain, "application/json", "{}".utf8)
        request.headers[named: "connect-timeout-ms"] = "1500"
        request.headers[named: "grpc-timeout"] = "9S"
        _ = await self.door(calls).answer(request)
        let timeouts = calls.calls.first.map { Array($0.metadata[stringValues: "grpc-timeout"]) }
        #expect(timeouts == ["1500m"])
        request.headers[named: "connect-timeout-ms"] = "soon"
        #expect(try await self.refusal(request) == ("invalid_argument", 400))
    }

    @Test("a failed call has its code, its message and each detail, in bytes and to read")
    func errors() async throws {
        let error = GoogleRPCStatus(
            code: .resourceExhausted, message: "no \"more\"\n",
            details: [
                .errorInfo(reason: "QUOTA_EXCEEDED", domain: "sightline.v1"),
                .retryInfo(delay: .milliseconds(1250)),
                .quotaFailure(violations: [.init(subject: "tenant:a", description: "b")]),
                .badRequest(violations: [.init(field: "c", description: "d")]),
            ])
        let response = await self.door(ConnectCalls(error)).answer(
            Sent.post(Sent.explain, "application/proto", []))
        #expect(response.status.code == 429)
        #expect(response.headers[.retryAfter] == "2")
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[named: "trailer-grpc-status-details-bin"] == nil)
        let body = try response.json()
        #expect(body["code"] as? String == "resource_exhausted")
        #expect(body["message"] as? String == "no \"more\"\n")
        let details = try #require(body["details"] as? [[String: Any]])
        #expect(
            details.map { $0["type"] as? String } == [
                "google.rpc.ErrorInfo", "google.rpc.RetryInfo", "google.rpc.QuotaFailure",
                "google.rpc.BadRequest",
            ])
        let first = try #require(details[0]["value"] as? String)
        #expect(!first.contains("="))
        // Field 1 of ErrorInfo is the reason.
        let bytes = try #require(Base64.decode(first.utf8))
        #expect(bytes.starts(with: [0x0a, 14] + Array("QUOTA_EXCEEDED".utf8)))
        let debugs = details.map { $0["debug"] as? [String: Any] ?? [:] }
        #expect(debugs[0]["reason"] as? String == "QUOTA_EXCEEDED")
        #expect(debugs[1]["retryDelay"] as? String == "1.250s")
        #expect(
            (debugs[2]["violations"] as? [[String: String]])
                == [["subject": "tenant:a", "description": "b"]])
        #expect(
            (debugs[3]["fieldViolations"] as? [[String: String]])
                == [["field": "c", "description": "d"]])
    }

    @Test("trailing metadata comes as headers")
    func trailers() async throws {
        let calls = ConnectCalls { _ in
            DoorAnswer(
                message: ByteBuffer(), status: Status(code: .ok, message: ""),
                metadata: ["a": "b", "c-bin": .binary([0xff])])
        }
        let response = await self.door(calls).answer(
            Sent.post(Sent.explain, "application/proto", []))
        #expect(response.headers[named: "trailer-a"] == "b")
        #expect(response.headers[named: "trailer-c-bin"] == "/w")
    }

    @Test("an OK without a message, or with one that is none, is a failure of the server")
    func noAnswer() async throws {
        for message in [nil, ByteBuffer(bytes: [0xff])] {
            let calls = ConnectCalls { _ in
                DoorAnswer(message: message, status: Status(code: .ok, message: ""))
            }
            let response = await self.door(calls).answer(
                Sent.post(Sent.explain, "application/json", "{}".utf8))
            #expect(response.status.code == 500)
            #expect(try response.json()["code"] as? String == "internal")
        }
    }

    @Test("a message may be as large as on the gRPC port, and no larger, also as JSON")
    func size() async throws {
        /// A request of so many bytes in protobuf's binary form.
        func request(bytes: Int) -> String {
            // A tag and a length of three bytes are before the id.
            "{\"deliveryId\":\"" + String(repeating: "a", count: bytes - 4) + "\"}"
        }
        let limit = ConnectMethod.maxMessageBytes
        let calls = try ConnectCalls(Self.explained)
        let response = await self.door(calls).answer(
            Sent.post(Sent.explain, "application/json", request(bytes: limit).utf8))
        #expect(response.status == .ok && calls.calls.first?.message.readableBytes == limit)
        let beyond = Sent.post(Sent.explain, "application/json", request(bytes: limit + 1).utf8)
        #expect(try await self.refusal(beyond) == ("resource_exhausted", 429))
        let zeros = [UInt8](repeating: 0, count: limit + 1)
        let binary = await self.door(calls).answer(
            Sent.post(Sent.explain, "application/proto", zeros.dropLast()))
        #expect(binary.status == .ok)
        #expect(
            try await self.refusal(Sent.post(Sent.explain, "application/proto", zeros))
                == ("resource_exhausted", 429))
        // Spaces are no part of a message.
        let spaces = String(repeating: " ", count: ConnectMethod.maxTextBytes - 2) + "{}"
        let padded = await self.door(calls).answer(
            Sent.post(Sent.explain, "application/json", spaces.utf8))
        #expect(padded.status == .ok)
        #expect(
            try await self.refusal(Sent.post(Sent.explain, "application/json", (spaces + " ").utf8))
                == ("resource_exhausted", 429))
    }

    @Test("GET is for methods without side effects, and is not cached")
    func get() async throws {
        let calls = try ConnectCalls(Self.explained)
        let query = "connect=v1&encoding=json&message=%7B%22deliveryId%22%3A%2256c4%22%7D"
        let response = await self.door(calls).answer(Sent.get(Sent.explain, query))
        #expect(response.status == .ok && response.text == #"{"truncated":true}"#)
        #expect(response.headers[.cacheControl] == "no-store")
        #expect(calls.calls.first?.message == ByteBuffer(bytes: Sent.deliveryBytes))
        let recorded = await self.door(calls).answer(Sent.get(Sent.record, query))
        #expect(recorded.status.code == 405 && recorded.headers[.allow] == "POST")
        #expect(calls.calls.count == 1)
    }

    @Test("GET in protobuf has its message in base64, perhaps compressed")
    func getBinary() async throws {
        let calls = try ConnectCalls(Self.explained)
        let gzip = Sent.deliveryGzip.replacing("+", with: "-").replacing("=", with: "")
        for message in ["CgQ1NmM0", "\(gzip)&compression=gzip"] {
            let response = await self.door(calls).answer(
                Sent.get(Sent.explain, "encoding=proto&base64=1&message=\(message)"))
            #expect(response.status == .ok && response.bytes == [0x18, 1])
            #expect(calls.calls.last?.message == ByteBuffer(bytes: Sent.deliveryBytes))
        }
    }

    @Test("GET without a query, or with an unknown codec, is refused")
    func getRefused() async throws {
        #expect(try await self.refusal(Sent.get(Sent.explain, nil)) == ("invalid_argument", 400))
        let calls = try ConnectCalls(Self.explained)
        for query in ["message=", "message=&encoding=xml"] {
            let response = await self.door(calls).answer(Sent.get(Sent.explain, query))
            #expect(response.status.code == 415)
        }
        #expect(calls.calls.isEmpty)
    }
}
