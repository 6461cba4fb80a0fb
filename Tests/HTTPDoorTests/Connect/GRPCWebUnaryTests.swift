// gRPC-Web's calls: binary and text, plain and compressed, and their errors.
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import HTTPDoor
internal import HTTPTypes
internal import NIOCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing
internal import WireFormat

struct GRPCWebUnaryTests {
    private static let request: [UInt8] = [0, 0, 0, 0, 6] + Sent.deliveryBytes
    /// An ExplainDeliveryResponse with `truncated`, and the trailers of OK.
    private static let answer: [UInt8] =
        [0, 0, 0, 0, 2, 0x18, 1] + [0x80, 0, 0, 0, 16] + Array("grpc-status: 0\r\n".utf8)

    private func calls() throws -> ConnectCalls {
        try ConnectCalls(Sightline_V1_ExplainDeliveryResponse.with { $0.truncated = true })
    }

    private func answer(
        _ request: DoorRequest, _ calls: ConnectCalls, bulk: CountingExecutor? = nil
    ) async -> DoorResponse {
        await ConnectDoor(calls: calls, corsOrigins: [], bulk: bulk).answer(request)
    }

    @Test("frames are answered by frames", arguments: ["", "+proto"])
    func binary(_ suffix: String) async throws {
        let calls = try self.calls()
        let type = "application/grpc-web" + suffix
        let response = await self.answer(Sent.post(Sent.explain, type, Self.request), calls)
        #expect(response.status == .ok && response.bytes == Self.answer)
        #expect(response.headers[.contentType] == type)
        #expect(response.headers[named: "grpc-status"] == nil)
        #expect(calls.calls.first?.message == ByteBuffer(bytes: Sent.deliveryBytes))
    }

    @Test("text is answered by text, in one piece or in chunks", arguments: ["", "+proto"])
    func text(_ suffix: String) async throws {
        let calls = try self.calls()
        let type = "application/grpc-web-text" + suffix
        for cut in 0...Self.request.count {
            let parts = [Self.request.prefix(cut), Self.request.dropFirst(cut)]
            let text = parts.flatMap { Base64.encode($0, isPadded: true) }
            let response = await self.answer(Sent.post(Sent.explain, type, text), calls)
            #expect(Base64.decode(response.bytes) == Self.answer)
            #expect(response.headers[.contentType] == type)
            #expect(calls.calls.last?.message == ByteBuffer(bytes: Sent.deliveryBytes))
        }
        #expect(calls.calls.count == Self.request.count + 1)
        let broken = await self.answer(Sent.post(Sent.explain, type, "AAAA*".utf8), calls)
        #expect(broken.headers[named: "grpc-status"] == "3")
    }

    @Test("a message may be compressed by grpc-encoding, and needs it then")
    func compressed() async throws {
        let calls = try self.calls()
        let gzip = try #require(Base64.decode(Sent.deliveryGzip.utf8))
        let frames = [1, 0, 0, 0, UInt8(gzip.count)] + gzip
        var request = Sent.post(Sent.explain, "application/grpc-web", frames)
        let without = await self.answer(request, calls)
        #expect(without.headers[named: "grpc-status"] == "3" && calls.calls.isEmpty)
        request.headers[named: "grpc-encoding"] = "gzip"
        let bulk = CountingExecutor()
        #expect(await self.answer(request, calls, bulk: bulk).bytes == Self.answer)
        #expect(bulk.count == 1)
        #expect(calls.calls.first?.message == ByteBuffer(bytes: Sent.deliveryBytes))
        request.headers[named: "grpc-encoding"] = "deflate"
        let unknown = await self.answer(request, calls)
        #expect(unknown.headers[named: "grpc-status"] == "12")
        #expect(unknown.headers[named: "grpc-accept-encoding"] == "gzip, zstd, identity")
    }

    @Test("an error stands in the headers and in the body, with its details")
    func errors() async throws {
        let error = GoogleRPCStatus(
            code: .permissionDenied, message: "nö",
            details: [.errorInfo(reason: "SCOPE_MISSING", domain: "sightline.v1")])
        let response = await self.answer(
            Sent.post(Sent.explain, "application/grpc-web", Self.request), ConnectCalls(error))
        #expect(response.status == .ok)
        #expect(response.headers[named: "grpc-status"] == "7")
        #expect(response.headers[named: "grpc-message"] == "n%c3%b6")
        let details = try #require(response.headers[named: DoorAnswer.detailsKey])
        let bytes = try #require(Base64.decode(details.utf8))
        #expect(try GoogleRPCStatus(serializedBytes: bytes) == error)
        #expect(response.bytes.first == 0x80)
        let text = String(decoding: response.bytes.dropFirst(5), as: UTF8.self)
        #expect(text.hasPrefix("grpc-status: 7\r\ngrpc-message: n%c3%b6\r\n"))
        #expect(text.contains("grpc-status-details-bin: \(details)\r\n"))
    }

    @Test("a stream is unimplemented, and the words say where streams are")
    func streams() async throws {
        let calls = try self.calls()
        let response = await self.answer(
            Sent.post(
                "/sightline.v1.TrackingService/StreamEvents", "application/grpc-web",
                [0, 0, 0, 0, 0]), calls)
        #expect(response.headers[named: "grpc-status"] == "12" && calls.calls.isEmpty)
        #expect(response.headers[named: "grpc-message"]?.contains("gRPC port") == true)
    }

    @Test("an OK without a message is a failure of the server")
    func noAnswer() async {
        let calls = ConnectCalls { _ in
            DoorAnswer(message: nil, status: Status(code: .ok, message: ""))
        }
        let response = await self.answer(
            Sent.post(Sent.explain, "application/grpc-web", Self.request), calls)
        #expect(response.headers[named: "grpc-status"] == "13")
    }
}
