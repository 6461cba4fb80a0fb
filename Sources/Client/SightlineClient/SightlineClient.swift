package import CoreMetrics
public import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization
package import Tracing

/// Sends tracking events, and keeps each until the server has acknowledged it: across server
/// restarts, drains and broken connections, and with a spool across the end of the process.
///
/// Call `run()` in one task, `send` from any others, and `close` at the end. An event is sent again
/// until it has a verdict. The server counts a repeated event once, so sending it again is safe.
/// The client never drops an event that it has taken: while it is full, `send` waits and `trySend`
/// fails.
public final class SightlineClient: Sendable {
    /// The library's version.
    public static let version = "0.1.0"

    let configuration: ClientConfiguration
    let state: Mutex<ClientState>
    /// Wakes the stream's writer.
    let work = Signal()
    /// Fulfilled when `run` has been called.
    let began = Promise<Void>()
    /// Fulfilled when no further stream will be opened.
    let over = Promise<Void>()
    /// Fulfilled when `run` has returned.
    let ended = Promise<Void>()
    let syncing = SpoolSyncing()
    let telemetry: ClientTelemetry
    private let start = ContinuousClock.now

    /// Creates a client. It connects when it has its first event and `run` is called, and again
    /// whenever it has to. With a spool it takes over the events that an earlier owner of the
    /// directory left.
    ///
    /// - Throws: `SightlineClientError`, `SpoolError`.
    public convenience init(_ configuration: ClientConfiguration) throws {
        try self.init(configuration, tracer: nil, metrics: nil)
    }

    /// Creates a client with its own tracer and metrics factory; nil uses the process's.
    package init(
        _ configuration: ClientConfiguration, tracer: (any Tracer)?, metrics: (any MetricsFactory)?
    ) throws {
        try configuration.validate()
        // Reports unusable files now, rather than in the first stream.
        _ = try configuration.security.transport(to: configuration.address)
        _ = try configuration.credential?.metadata
        self.configuration = configuration
        self.telemetry = ClientTelemetry(
            address: configuration.address, tracer: tracer,
            metrics: metrics ?? MetricsSystem.factory)
        let outbox = Outbox(
            limits: configuration.limits, linger: configuration.linger,
            answerTimeout: configuration.answerTimeout, jitter: { .random(in: 0...1) })
        var state = ClientState(configuration, outbox: outbox)
        if let spool = configuration.spool {
            var log = SpoolLog(
                disk: try SpoolDirectory(spool.directory), maxBytes: spool.maxBytes,
                segmentBytes: spool.segmentBytes)
            state.take(try log.recover())
            state.spool = log
        }
        self.state = Mutex(state)
        if configuration.flushesAtExit { UnclosedClients.add(self) }
    }

    deinit {
        guard self.configuration.flushesAtExit else { return }
        UnclosedClients.remove(ObjectIdentifier(self))
        if let loss = self.loss { self.warn(loss) }
    }

    /// Creates a client with the defaults for a server at HOST:PORT.
    ///
    /// - Throws: `SightlineClientError.badAddress`.
    public convenience init(target: String) throws {
        try self.init(ClientConfiguration(address: try ServerAddress(target)))
    }

    /// Takes an event. Waits while the client is full, and with a spool until the event is written.
    /// An event without a trace context gets that of the current span.
    ///
    /// - Returns: the promise of its verdict.
    /// - Throws: `SightlineClientError` (`tooLarge`, `closed`, `refused`), `SpoolError`,
    ///   `CancellationError`; then the event was not taken, unless the error came while waiting for
    ///   a sync.
    @discardableResult
    public nonisolated(nonsending) func send(
        _ event: Sightline_V1_TrackingEvent
    ) async throws -> Ticket {
        let bytes = try self.encoded(event)
        while true {
            switch try self.take(bytes) {
            case .taken(let ticket, _):
                try await self.waitForSync()
                return ticket
            case .full(let room):
                do {
                    try await room.get()
                } catch {
                    self.state.withLock { $0.leave(room) }
                    throw error
                }
            }
        }
    }

    /// Takes an event if there is room: for callers that would rather drop it than wait.
    ///
    /// - Returns: the promise of its verdict.
    /// - Throws: `SightlineClientError` (`full`, `tooLarge`, `closed`, `refused`), and the errors
    ///   of `send`.
    @discardableResult
    public nonisolated(nonsending) func trySend(
        _ event: Sightline_V1_TrackingEvent
    ) async throws -> Ticket {
        switch try self.take(try self.encoded(event)) {
        case .taken(let ticket, _):
            try await self.waitForSync()
            return ticket
        case .full(let room):
            self.state.withLock { $0.refuse(room) }
            throw SightlineClientError.full
        }
    }

    /// What the client holds at present, and its counts.
    public var statistics: ClientStatistics { self.state.withLock { $0.currentStatistics } }

    /// The results of all events, if `collectsResults` is set; otherwise the sequence ends, empty,
    /// with the client.
    public var results: ClientResults { ClientResults(client: self) }

    /// The events without a final verdict, in the order in which they will be sent; available after
    /// the client's end as well.
    public func unacknowledged() -> [Sightline_V1_TrackingEvent] {
        let tickets = self.state.withLock { $0.outbox.unsettled }
        // Cannot fail: SwiftProtobuf encoded them, or the spool's checksum covers them.
        return tickets.compactMap { try? Sightline_V1_TrackingEvent(serializedBytes: $0.bytes) }
    }

    /// The time since the client was created.
    func now() -> Duration { ContinuousClock.now - self.start }

    /// The oldest unread result; waits for one. Nil after the client's end, or if the task is
    /// cancelled.
    func nextResult() async -> Outbox.Settled? {
        while true {
            switch self.state.withLock({ $0.takeResult() }) {
            case .result(let settled, let rooms):
                for room in rooms { room.fulfil(()) }
                return settled
            case .over:
                return nil
            case .none(let next):
                do {
                    try await next.get()
                } catch {
                    self.state.withLock { $0.leave(reading: next) }
                    return nil
                }
            }
        }
    }

    private func take(_ bytes: [UInt8]) throws -> ClientState.Taking {
        let taking: ClientState.Taking
        do {
            taking = try self.state.withLock { try $0.take(bytes, now: self.now) }
        } catch {
            self.tellOfFailedSpool()
            throw error
        }
        if case .taken(_, wakesWriter: true) = taking { self.work.raise() }
        return taking
    }

    private func encoded(_ event: Sightline_V1_TrackingEvent) throws -> [UInt8] {
        var bytes: [UInt8] = try event.serializedBytes()
        if !event.hasTraceContext, let field = self.telemetry.traceField() { bytes += field }
        // An event's tag and its length of up to 3 bytes.
        guard
            bytes.count + 4 + RequestLimits.requestOverheadByteCount
                <= RequestLimits.largestRequestByteCount
        else { throw SightlineClientError.tooLarge(byteCount: bytes.count) }
        return bytes
    }
}
