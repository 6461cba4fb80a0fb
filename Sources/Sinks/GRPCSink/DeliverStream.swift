internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import GRPCProtobuf
internal import Pacing
package import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization

/// One call of Deliver on a connection of its own, and what has been said on it.
package final class DeliverStream: Sendable {
    /// The journal of its Hello.
    let journal: String
    private let ackTimeout: Duration
    private let maxBusy: Duration
    private let shell: Mutex<Shell>
    /// Raised by each message of the backend, and by the end of the call.
    private let changed = Signal()
    private let outgoing: AsyncStream<[UInt8]>.Continuation
    private let call = Mutex<Task<Void, Never>?>(nil)

    private struct Shell {
        var said: DeliverState
        /// Why nothing more comes.
        var end: BackendFailure?
    }

    /// Connects, and says Hello.
    ///
    /// - Throws: an error of the transport, or `BackendFailure`, if the files of TLS or the key
    ///   cannot be used.
    package init(_ hello: Sightline_V1_Hello, _ backend: Backend) throws {
        self.journal = hello.journalID
        self.ackTimeout = backend.configuration.ackTimeout
        self.maxBusy = backend.configuration.maxBusy
        self.shell = Mutex(
            Shell(said: DeliverState(journal: hello.journalID, limits: backend.limits)))
        let (messages, outgoing) = AsyncStream.makeStream(of: [UInt8].self)
        self.outgoing = outgoing
        var first = Sightline_V1_DeliverRequest()
        first.hello = hello
        outgoing.yield(try first.serializedBytes())
        let transport = try backend.transport()
        let metadata = try backend.metadata()
        let options = backend.options
        let task = Task {
            let end = await Self.run(transport, messages, metadata, options) { try self.take($0) }
            self.change { $0.end = $0.end ?? end }
        }
        self.call.withLock { $0 = task }
    }

    private static func run(
        _ transport: HTTP2ClientTransport.Posix, _ messages: AsyncStream<[UInt8]>,
        _ metadata: Metadata, _ options: CallOptions,
        _ take: @escaping @Sendable (Sightline_V1_DeliverResponse) throws -> Void
    ) async -> BackendFailure {
        do {
            try await withGRPCClient(transport: transport) { client in
                try await client.bidirectionalStreaming(
                    request: StreamingClientRequest(metadata: metadata) { writer in
                        for await message in messages { try await writer.write(message) }
                    },
                    descriptor: Sightline_V1_SinkService.Method.Deliver.descriptor,
                    serializer: WrittenMessages(),
                    deserializer: ProtobufDeserializer<Sightline_V1_DeliverResponse>(),
                    options: options
                ) { response in
                    for try await message in response.messages { try take(message) }
                }
            }
            return .inOrder
        } catch {
            return BackendFailure(of: error)
        }
    }

    private func take(_ response: Sightline_V1_DeliverResponse) throws {
        try self.change { shell in
            do throws(BackendFailure) {
                try shell.said.take(response, at: .now)
            } catch {
                shell.end = shell.end ?? error
                throw error
            }
            // The backend waits for our end.
            if shell.said.drain != nil, shell.said.isSettled { self.outgoing.finish() }
        }
    }

    /// Whether the next batch can be sent on it.
    var isUsable: Bool {
        self.shell.withLock { $0.end == nil && $0.said.drain == nil && $0.said.loss == nil }
    }

    /// Why the backend lost hits, if it said so.
    var loss: BackendLoss? { self.shell.withLock { $0.said.loss.map { BackendLoss(saying: $0) } } }

    /// How long the last ack took, from the newest message that it covers.
    var ackDelay: Duration? { self.shell.withLock { $0.said.ackDelay } }

    /// The hits that may wait for an ack, once Welcome has come.
    var windowHits: Int? { self.shell.withLock { $0.said.welcome?.limits.hits } }

    /// Everything up to it is durable or refused.
    package var durable: HitPosition? { self.shell.withLock { $0.said.durable } }

    /// Sends all that comes from now on, whatever Welcome says that the backend has.
    func forgetProgress() { self.shell.withLock { $0.said.forgetProgress() } }

    /// The refusals that have come of groups up to a sequence; each is taken once.
    package func takeRefused(through sequence: Int64) -> [DeliverState.Refused] {
        self.shell.withLock { $0.said.takeRefused(through: sequence) }
    }

    /// Waits for Welcome.
    ///
    /// - Throws: `BackendFailure`, or `BackendLoss`.
    package func open(within timeout: Duration) async throws -> DeliverState.Welcome {
        let deadline = ContinuousClock.now + timeout
        return try await self.wait(
            { _ in deadline }, .noWelcome
        ) { said in said.welcome }
    }

    /// Sends a message once the window has room for it, and says in it whether the server has to
    /// wait for an ack then.
    ///
    /// - Parameter next: the message after it; nil if none is there.
    /// - Throws: `BackendFailure`, `BackendLoss` or `BackendBusy`. The batch is to be sent again.
    package func send(
        _ message: RecordBatchMessage, before next: RecordBatchMessage?
    ) async throws {
        var message = message
        message.awaitsAck = try await self.turn(self.nextLook, Self.silence) {
            said, now -> Bool? in
            guard said.hasRoom(for: message, at: now) else { return nil }
            said.send(message, at: now)
            return !(next.map(said.fits) ?? false)
        }
        self.outgoing.yield(message.bytes)
    }

    /// Asks the backend to forget a recipient, and waits until it has. Needs the capability.
    ///
    /// - Throws: `BackendFailure`, `BackendLoss` or `BackendBusy`.
    package func erase(_ erase: Sightline_V1_Erase) async throws -> DeliverState.Erased {
        var request = Sightline_V1_DeliverRequest()
        request.erase = erase
        let bytes: [UInt8] = try request.serializedBytes()
        // Hits and other recipients wait meanwhile: it may not be busy for ever.
        let end = ContinuousClock.now + self.ackTimeout + self.maxBusy
        let nextLook = { (said: DeliverState) in min(self.nextLook(said), end) }
        try await self.turn(nextLook, Self.notErased) { said, now -> Void? in
            said.beginErasing(at: now) ? () : nil
        }
        self.outgoing.yield(bytes)
        return try await self.wait(nextLook, Self.notErased) { said in said.takeErased() }
    }

    /// Waits until `body` notes that something is sent, which the backend has not asked us not to
    /// send.
    private func turn<Value: Sendable>(
        _ nextLook: (DeliverState) -> ContinuousClock.Instant, _ timeout: BackendFailure,
        _ body: (inout DeliverState, ContinuousClock.Instant) -> Value?
    ) async throws -> Value {
        let value = try await self.wait(nextLook, timeout) { said -> Value?? in
            if said.drain != nil { return .some(nil) }
            let now = ContinuousClock.now
            if let end = said.busyUntil, now.duration(to: end) > self.ackTimeout {
                throw BackendBusy(end: end)
            }
            return body(&said, now).map { .some($0) }
        }
        if let value { return value }
        try await self.settle()
        let reason = self.shell.withLock { $0.said.drain } ?? ""
        throw BackendFailure("it ends its stream", quote: reason)
    }

    /// Waits until everything that was sent is acknowledged.
    ///
    /// - Throws: `BackendFailure`, or `BackendLoss`.
    package func settle() async throws {
        _ = try await self.wait(self.nextLook, Self.silence) { said in
            said.inFlight.isEmpty ? true : nil
        }
    }

    /// Waits for the end of the call; nil if it takes too long.
    package func end(within timeout: Duration) async -> BackendFailure? {
        let deadline = ContinuousClock.now + timeout
        do {
            return try await self.wait({ _ in deadline }, Self.late) { _ in nil as BackendFailure? }
        } catch let end as BackendFailure where end != Self.late {
            return end
        } catch {
            return nil
        }
    }

    private static let late = BackendFailure("the call has not ended")
    private static let silence = BackendFailure("no ack within grpc.ack_seconds")
    private static let notErased = BackendFailure(
        "no Erased within grpc.ack_seconds, or with Busy within grpc.max_busy_seconds more")

    /// When a wait is over, or worth another look.
    private func nextLook(_ said: DeliverState) -> ContinuousClock.Instant {
        guard let busyUntil = said.busyUntil else { return said.progress + self.ackTimeout }
        if said.isSettled || busyUntil > .now { return busyUntil }
        return max(said.progress, busyUntil) + self.ackTimeout
    }

    /// Ends the stream: in order, if nothing is under way, or else at once.
    package func close(inOrder: Bool) {
        self.outgoing.finish()
        let task = self.call.withLock { $0 }
        guard inOrder else {
            task?.cancel()
            return
        }
        let timeout = self.ackTimeout
        Task {
            // A backend that does not end its side is not waited for.
            try? await Task.sleep(for: timeout)
            task?.cancel()
        }
    }
}

// MARK: Waiting

extension DeliverStream {
    /// Waits until `body` returns a value; looks again after every change.
    private func wait<Value: Sendable>(
        _ deadline: (DeliverState) -> ContinuousClock.Instant, _ timeout: BackendFailure,
        for body: (inout DeliverState) throws -> Value?
    ) async throws -> Value {
        var latest: ContinuousClock.Instant?
        while true {
            if Task.isCancelled { throw BackendFailure("the server stops") }
            let (value, next) = try self.shell.withLock { shell in
                if let loss = shell.said.loss { throw BackendLoss(saying: loss) }
                let value = try body(&shell.said)
                if value == nil, let end = shell.end { throw end }
                return (value, deadline(shell.said))
            }
            if let value { return value }
            // The same moment again, and it has passed.
            if next == latest, next <= .now { throw timeout }
            latest = next
            await self.waitForChange(until: next)
        }
    }

    private func waitForChange(until deadline: ContinuousClock.Instant) async {
        let timer = Task {
            do {
                try await Task.sleep(until: deadline, clock: .continuous)
                self.changed.raise()
            } catch {
                // A change came earlier.
            }
        }
        defer { timer.cancel() }
        await withTaskCancellationHandler {
            await self.changed.wait()
        } onCancel: {
            self.changed.raise()
        }
    }

    /// Changes what is known, and wakes the waiting call.
    private func change(_ body: (inout Shell) throws -> Void) rethrows {
        defer { self.changed.raise() }
        try self.shell.withLock { try body(&$0) }
    }
}

/// Messages that are bytes already.
private struct WrittenMessages: MessageSerializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) -> Bytes { Bytes(message) }
}
