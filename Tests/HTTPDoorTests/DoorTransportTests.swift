// Calls of doors pass a server of gRPC as those of its port do.
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
@testable internal import HTTP2Edge
@testable internal import HTTPDoor
internal import NIOCore
internal import Testing

struct DoorTransportTests {
    /// A service of four methods, which serves texts as they come.
    private struct Echo: RegistrableRPCService {
        /// Called when `Wait` begins.
        var onWait: @Sendable () -> Void = {}

        static let echo = MethodDescriptor(fullyQualifiedService: "test.Echo", method: "Echo")
        static let metadata = MethodDescriptor(
            fullyQualifiedService: "test.Echo", method: "Metadata")
        static let wait = MethodDescriptor(fullyQualifiedService: "test.Echo", method: "Wait")
        static let stream = MethodDescriptor(fullyQualifiedService: "test.Echo", method: "Stream")

        func registerMethods(with router: inout RPCRouter<some ServerTransport>) {
            self.register(Self.echo, &router) { request in
                for try await message in request.messages { return [message] }
                return []
            }
            self.register(Self.metadata, &router) { request in
                [request.metadata.map { "\($0.key)=\($0.value.encoded());" }.sorted().joined()]
            }
            let onWait = self.onWait
            self.register(Self.wait, &router) { _ in
                onWait()
                let (ended, end) = AsyncStream.makeStream(of: Void.self)
                await withRPCCancellationHandler {
                    for await _ in ended {}
                } onCancelRPC: {
                    end.finish()
                }
                throw RPCError(code: .cancelled, message: "it was cancelled")
            }
            self.register(Self.stream, &router) { _ in ["one", "two"] }
        }

        private func register(
            _ method: MethodDescriptor, _ router: inout RPCRouter<some ServerTransport>,
            _ answers: @escaping @Sendable (StreamingServerRequest<String>) async throws -> [String]
        ) {
            router.registerHandler(
                forMethod: method, deserializer: TextCoding(), serializer: TextCoding()
            ) { request, _ in
                let messages = try await answers(request)
                return StreamingServerResponse { writer in
                    for message in messages { try await writer.write(message) }
                    return ["trailer": "seen"]
                }
            }
        }
    }

    private struct TextCoding: MessageDeserializer, MessageSerializer {
        func deserialize(_ bytes: some GRPCContiguousBytes) -> String {
            bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }

        func serialize<Bytes: GRPCContiguousBytes>(_ message: String) -> Bytes {
            Bytes(message.utf8)
        }
    }

    private static let maxBytes = 40

    /// A server behind a transport while `body` runs, which is served until then.
    private func served<Value: Sendable>(
        buffered: BufferedBytes = BufferedBytes(maxBytes: 1 << 20), _ service: Echo = Echo(),
        direct: [MethodDescriptor: DoorTransport.DirectMethod] = [:],
        _ body: @Sendable (DoorTransport) async throws -> Value
    ) async throws -> Value {
        let limits = MessageLimits(
            EdgeConfiguration(), streamPath: "", methodBytes: ["/test.Echo/Echo": Self.maxBytes],
            buffered: buffered)
        let transport = DoorTransport(
            limits: limits, direct: direct,
            ending: CallEnding { refusal in
                (Status(code: .aborted, message: "\(refusal)"), ["refused": "yes"])
            } complete: { end in
                var end = end
                end.metadata.addString("yes", forKey: "completed")
                return end
            },
            credentials: { metadata, _ in
                metadata[stringValues: "x-api-key"].contains("wrong")
                    ? (Status(code: .unauthenticated, message: "wrong"), ["refused": "key"]) : nil
            })
        let server = GRPCServer(transport: transport, services: [service])
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.serve() }
            await transport.waitUntilReady()
            let value = try await body(transport)
            server.beginGracefulShutdown()
            try await group.waitForAll()
            return value
        }
    }

    private func call(
        _ method: MethodDescriptor, _ text: String = "", metadata: Metadata = [:],
        peer: DoorPeer = DoorPeer(address: "ipv4:192.0.2.1:1")
    ) -> DoorCall {
        DoorCall(method: method, metadata: metadata, message: ByteBuffer(string: text), peer: peer)
    }

    @Test("a call gets the service's message, its status and its trailers")
    func answer() async throws {
        let answer = try await self.served { await $0.serve(self.call(Echo.echo, "hello")) }
        #expect(answer.message == ByteBuffer(string: "hello"))
        #expect(answer.status.code == .ok)
        #expect(answer.metadata == ["trailer": "seen", "completed": "yes"])
    }

    @Test("an unknown method is the library's error, which is completed")
    func unknownMethod() async throws {
        let method = MethodDescriptor(fullyQualifiedService: "test.Echo", method: "None")
        let answer = try await self.served { await $0.serve(self.call(method)) }
        #expect(answer.status.code == .unimplemented && answer.message == nil)
        #expect(answer.metadata == ["completed": "yes"])
    }

    @Test("a message may have its method's bytes, and not one more", arguments: [40, 41])
    func messageLimit(_ count: Int) async throws {
        let text = String(repeating: "x", count: count)
        let answer = try await self.served { await $0.serve(self.call(Echo.echo, text)) }
        #expect((answer.status.code == .ok) == (count <= Self.maxBytes))
        #expect(
            answer.status.message
                == (count <= Self.maxBytes ? "" : "messageTooLarge(maxBytes: \(Self.maxBytes))"))
    }

    @Test("the metadata is the request's, and no client names another one's bytes that wait")
    func metadata() async throws {
        let buffered = BufferedBytes(maxBytes: 1 << 20)
        let call = buffered.open(on: ConnectionShares())
        let answer = try await self.served(buffered: buffered) { transport in
            await transport.serve(
                self.call(
                    Echo.metadata, metadata: ["sightline-call": "7", "authorization": "Bearer x"],
                    peer: DoorPeer(callMetadata: call.metadata)))
        }
        let own = call.metadata.map { "\($0.key)=\($0.value.encoded());" }.joined()
        #expect(answer.message == ByteBuffer(string: "authorization=Bearer x;" + own))
    }

    @Test(
        "a direct method serves its calls, but for those with a deadline, within the same limits",
        arguments: [
            ("hello", [:], "direct"), ("hello", ["grpc-timeout": "1H"], "hello"),
            ("", ["grpc-timeout": "0m"], nil), (String(repeating: "x", count: 41), [:], nil),
            ("fail", [:], nil),
        ] as [(String, Metadata, String?)])
    func direct(_ text: String, _ metadata: Metadata, _ wanted: String?) async throws {
        let direct: DoorTransport.DirectMethod = { call, _ in
            guard String(buffer: call.message) != "fail" else {
                return (ByteBuffer(string: "no answer"), (Status(code: .aborted, message: ""), [:]))
            }
            return (
                ByteBuffer(string: "direct"), (Status(code: .ok, message: ""), [:])
            )
        }
        let answer = try await self.served(direct: [Echo.echo: direct]) { transport in
            await transport.serve(self.call(Echo.echo, text, metadata: metadata))
        }
        #expect(answer.message == wanted.map { ByteBuffer(string: $0) })
        #expect(answer.status.code == (wanted == nil ? .aborted : .ok))
        #expect(
            answer.metadata.contains {
                $0.key == (answer.status.message.isEmpty ? "completed" : "refused")
            })
    }

    @Test("a deadline ends a call, and one that is malformed is refused")
    func deadline() async throws {
        let late = try await self.served { transport in
            await transport.serve(self.call(Echo.wait, metadata: ["grpc-timeout": "1m"]))
        }
        #expect(late.status.message == "deadlinePassed" && late.status.code == .aborted)
        // Also where the answer would be there at once.
        let passed = try await self.served { transport in
            await transport.serve(self.call(Echo.echo, metadata: ["grpc-timeout": "0m"]))
        }
        #expect(passed.status.message == "deadlinePassed")
        let malformed = try await self.served { transport in
            await transport.serve(self.call(Echo.echo, metadata: ["grpc-timeout": "-1S"]))
        }
        #expect(malformed.status.message == #"timeout("-1S")"#)
    }

    @Test("a client that goes away cancels its call")
    func cancelled() async throws {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let service = Echo(onWait: { beginning.finish() })
        let answer = try await self.served(service) { transport in
            let call = self.call(Echo.wait)
            return await withTaskGroup(of: DoorAnswer.self) { group in
                group.addTask { await transport.serve(call) }
                for await _ in begun {}
                group.cancelAll()
                return await group.next()
            }
        }
        #expect(answer?.status.code == .cancelled)
    }

    @Test("a method that streams its answers is for gRPC alone")
    func stream() async throws {
        let answer = try await self.served { await $0.serve(self.call(Echo.stream)) }
        #expect(answer.status.code == .unimplemented && answer.message == nil)
    }

    @Test("what has no room to wait is refused, and waits no longer")
    func memory() async throws {
        let buffered = BufferedBytes(maxBytes: 1)
        let call = buffered.open(on: ConnectionShares())
        _ = call.add(BufferedCall.freeBytes)
        let peer = DoorPeer(callMetadata: call.metadata)
        let answer = try await self.served(buffered: buffered) { transport in
            await transport.serve(self.call(Echo.echo, "xxxx", peer: peer))
        }
        #expect(answer.status.message == "overloaded")
        call.close()
        #expect(buffered.count == 0)
    }

    @Test("after the shutdown a call is told that the server closes")
    func closing() async throws {
        let transport = try await self.served { $0 }
        #expect(await transport.serve(self.call(Echo.echo)).status.message == "closing")
    }

    @Test("credentials that are refused are told of before a call")
    func credentials() async throws {
        try await self.served { transport in
            let refusal = transport.refusal(of: ["x-api-key": "wrong"], from: DoorPeer())
            #expect(refusal?.message == nil && refusal?.status.code == .unauthenticated)
            #expect(refusal?.metadata == ["refused": "key"])
            #expect(transport.refusal(of: ["x-api-key": "right"], from: DoorPeer()) == nil, "right")
        }
    }
}
