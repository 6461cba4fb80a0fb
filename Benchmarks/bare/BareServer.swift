// A server on grpc-swift-2 that answers RecordEvents with fixed bytes: what a call costs in the
// library alone. `load --unchecked 1` takes such an answer for any number of events.
internal import Foundation
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix

/// A message as it is on the wire, neither encoded nor decoded.
struct Bytes: MessageSerializer, MessageDeserializer {
    func serialize<Target: GRPCContiguousBytes>(_ message: [UInt8]) -> Target { Target(message) }

    func deserialize<Source: GRPCContiguousBytes>(_ source: Source) -> [UInt8] {
        source.withUnsafeBytes { Array($0) }
    }
}

@main
enum BareServer {
    /// RecordEventsResponse with a tally of one accepted event.
    static let answer: [UInt8] = [0x12, 0x02, 0x08, 0x01]

    static func main() async throws {
        var router = RPCRouter<HTTP2ServerTransport.Posix>()
        router.registerHandler(
            forMethod: MethodDescriptor(
                service: ServiceDescriptor(fullyQualifiedService: "sightline.v1.TrackingService"),
                method: "RecordEvents"),
            deserializer: Bytes(), serializer: Bytes()
        ) { request, _ in
            for try await _ in request.messages {}
            return StreamingServerResponse { writer in
                try await writer.write(Self.answer)
                return [:]
            }
        }
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext)
        let server = GRPCServer(transport: transport, router: router)
        async let serving: Void = server.serve()
        let port = try await transport.listeningAddress.ipv4?.port ?? 0
        FileHandle.standardOutput.write(Data("listening on 127.0.0.1:\(port)\n".utf8))
        try await serving
    }
}
