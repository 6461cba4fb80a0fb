package import GRPCCore
package import GRPCNIOTransportHTTP2Posix
package import HTTP2Edge
package import NIOCore
internal import NIOPosix
internal import Synchronization
package import X509

/// A transport of gRPC without a socket: the doors' calls pass the same services and interceptors
/// as those of the gRPC port.
///
/// A call runs in the task that asks for it. Cancelling that task cancels the call.
package final class DoorTransport: ServerTransport, CallServing {
    /// The bytes of messages, as on the gRPC port.
    package typealias Bytes = GRPCNIOTransportBytes
    private typealias Handler =
        @Sendable (_ stream: RPCStream<Inbound, Outbound>, _ context: ServerContext) async -> Void

    private let limits: MessageLimits
    private let direct: [MethodDescriptor: DirectMethod]
    private let ending: CallEnding
    private let credentials: CredentialCheck
    private let state = Mutex(State())
    /// Ends once calls are served, and once none is and none will be.
    private let (ready, readiness) = AsyncStream.makeStream(of: Void.self)
    private let (stopped, stop) = AsyncStream.makeStream(of: Void.self)

    private struct State {
        var handler: Handler?
        var openCalls = 0
        var isStopping = false
    }

    /// The end of all calls with a call's metadata and its peer's certificate, if the credentials
    /// are refused; nil if not.
    package typealias CredentialCheck = @Sendable (Metadata, Certificate?) -> CallEnding.End?

    /// A method that serves a call without the gRPC library: with its metadata, and no deadline.
    /// It has to check the credentials.
    package typealias DirectMethod =
        @Sendable (DoorCall, Metadata) async -> (
            message: ByteBuffer?, end: CallEnding.End
        )

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - limits: the limits on messages, as of the gRPC port, and the counter of those that wait.
    ///   - direct: methods that are called at once, where a call has no deadline that would end it:
    ///     the library's streams, tasks and contexts cost more than RecordEvents itself.
    ///   - ending: words and counts the ends of calls.
    ///   - credentials: checks them ahead of a call.
    package init(
        limits: MessageLimits, direct: [MethodDescriptor: DirectMethod] = [:], ending: CallEnding,
        credentials: @escaping CredentialCheck
    ) {
        self.limits = limits
        self.direct = direct
        self.ending = ending
        self.credentials = credentials
    }

    /// Returns once calls are served.
    package func waitUntilReady() async { for await _ in self.ready {} }

    /// Takes the server's handler, and waits until the shutdown and the end of every call.
    package func listen(
        streamHandler:
            @escaping @Sendable (
                _ stream: RPCStream<Inbound, Outbound>, _ context: ServerContext
            ) async -> Void
    ) async throws {
        self.state.withLock { $0.handler = streamHandler }
        self.readiness.finish()
        for await _ in self.stopped {}
    }

    /// Refuses further calls, and lets `listen` return when those that run have ended.
    package func beginGracefulShutdown() {
        self.readiness.finish()
        let isOver = self.state.withLock { state in
            state.isStopping = true
            return state.openCalls == 0
        }
        if isOver { self.stop.finish() }
    }

    /// The answer to all calls with these credentials, if they are refused.
    package func refusal(of metadata: Metadata, from peer: DoorPeer) -> DoorAnswer? {
        self.credentials(metadata, peer.certificate).map {
            DoorAnswer(message: nil, status: $0.status, metadata: $0.metadata)
        }
    }

    /// Serves a call, at most until its deadline.
    package func serve(_ call: DoorCall) async -> DoorAnswer {
        guard let handler = self.begin() else { return self.refuse(.closing) }
        defer { self.end() }
        var metadata = call.metadata
        BufferedBytes.removeName(from: &metadata)
        metadata.add(contentsOf: call.peer.callMetadata)
        let timeout: TimeAmount?
        switch CallTimeout.take(from: &metadata) {
        case .none: timeout = nil
        // Or an answer that is quick would come in spite of it.
        case .after(.nanoseconds(0)): return self.refuse(.deadlinePassed)
        case .after(let time): timeout = time
        case .malformed(let value): return self.refuse(.timeout(CallTimeout.shown(value)))
        }
        let maxBytes = self.limits.maxBytes(at: "/" + call.method.fullyQualifiedMethod)
        guard call.message.readableBytes <= maxBytes else {
            return self.refuse(.messageTooLarge(maxBytes: maxBytes))
        }
        // The body that it was made from counts already; both are there until the answer.
        let buffered = self.limits.buffered.call(call.peer.callMetadata)
        guard buffered?.add(call.message.readableBytes) ?? true else {
            return self.refuse(.overloaded)
        }
        if timeout == nil, let method = self.direct[call.method] {
            let (message, end) = await method(call, metadata)
            return self.answer(message, end)
        }
        return await self.run(call, metadata, timeout, handler)
    }

    private func answer(_ message: ByteBuffer?, _ end: CallEnding.End) -> DoorAnswer {
        let (status, trailers) = self.ending.complete(end)
        return DoorAnswer(
            message: status.code == .ok ? message : nil, status: status, metadata: trailers)
    }

    private func run(
        _ call: DoorCall, _ metadata: Metadata, _ timeout: TimeAmount?, _ handler: Handler
    ) async -> DoorAnswer {
        let collector = AnswerCollector()
        let isLate = Flag()
        await withServerContextRPCCancellationHandle { handle in
            // An event loop's timer is removed when it is cancelled; the task of a sleep would
            // keep its memory until the time is over (Swift 6.3).
            let timer = timeout.map { time in
                MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: time) {
                    isLate.set()
                    handle.cancel()
                }
            }
            defer { timer?.cancel() }
            var context = ServerContext(
                descriptor: call.method, remotePeer: call.peer.address, localPeer: "http",
                cancellation: handle)
            context.transportSpecific = DoorContext(
                peerCertificate: call.peer.certificate, principal: call.principal)
            let stream = RPCStream(
                descriptor: call.method, inbound: Self.inbound(metadata, call.message),
                outbound: RPCWriter.Closable(wrapping: collector))
            await withTaskCancellationHandler {
                await handler(stream, context)
            } onCancel: {
                handle.cancel()
            }
        }
        guard let end = collector.end, !isLate.isSet || end.status.code == .ok else {
            return self.refuse(isLate.isSet ? .deadlinePassed : .internalFailure)
        }
        return self.answer(collector.message, end)
    }

    private static func inbound(_ metadata: Metadata, _ message: ByteBuffer) -> Inbound {
        let (parts, continuation) = AsyncThrowingStream.makeStream(
            of: RPCRequestPart<Bytes>.self, throwing: (any Error).self)
        continuation.yield(.metadata(metadata))
        continuation.yield(.message(Bytes(message.readableBytesView)))
        continuation.finish()
        return Inbound(wrapping: parts)
    }

    private func begin() -> Handler? {
        self.state.withLock { state in
            guard !state.isStopping, let handler = state.handler else { return nil }
            state.openCalls += 1
            return handler
        }
    }

    private func end() {
        let isOver = self.state.withLock { state in
            state.openCalls -= 1
            return state.isStopping && state.openCalls == 0
        }
        if isOver { self.stop.finish() }
    }

    private func refuse(_ refusal: CallRefusal) -> DoorAnswer {
        let (status, metadata) = self.ending.refused(refusal)
        return DoorAnswer(message: nil, status: status, metadata: metadata)
    }

    /// Whether a call's deadline has passed.
    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { self.value.load(ordering: .relaxed) }
        func set() { self.value.store(true, ordering: .relaxed) }
    }
}
