package import CoreMetrics
public import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization
package import Tracing

/// Sends tracking events, and keeps each until the server has acknowledged it: through restarts,
/// drains and cut links, and with a spool through the end of the process.
///
/// Run `run()` in a task; from any others call `send`, and `close` at the end.
public final class SightlineClient: Sendable {
    let configuration: ClientConfiguration
    let state: Mutex<ClientState>
    /// Wakes the stream's writer.
    let work = Signal()
    /// Fulfilled when no stream is to be opened any more.
    let over = Promise<Void>()
    /// Fulfilled when `run` has returned.
    let ended = Promise<Void>()
    let syncing = SpoolSyncing()
    let telemetry: ClientTelemetry
    private let start = ContinuousClock.now

    /// Makes a client. It connects with its first event, once `run` is called, and as often as it
    /// must. With a spool it takes what an earlier owner of the directory left.
    ///
    /// - Throws: `SightlineClientError`, `SpoolError`.
    public convenience init(_ configuration: ClientConfiguration) throws {
        try self.init(configuration, tracer: nil, metrics: nil)
    }

    /// Makes a client with a tracer and a factory of metrics of its own; nil for those of the
    /// process.
    package init(
        _ configuration: ClientConfiguration, tracer: (any Tracer)?, metrics: (any MetricsFactory)?
    ) throws {
        try configuration.validate()
        // So that wrong files are told of here and not by the first stream.
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
    }

    /// Makes a client with the defaults, of a server at HOST:PORT.
    ///
    /// - Throws: `SightlineClientError.badAddress`.
    public convenience init(target: String) throws {
        try self.init(ClientConfiguration(address: try ServerAddress(target)))
    }

    /// Takes an event; waits while the client is full, and with a spool until the event is written.
    /// An event without a trace context gets that of the current span.
    ///
    /// - Returns: the promise of its verdict.
    /// - Throws: `SightlineClientError` (`tooLarge`, `closed`, `refused`), `SpoolError`,
    ///   `CancellationError`; then nothing was taken, but perhaps where a sync was waited for.
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

    /// Takes an event if there is room: for those who rather drop it than wait.
    ///
    /// - Returns: the promise of its verdict.
    /// - Throws: `SightlineClientError` (`full`, `tooLarge`, `closed`, `refused`), and as `send`.
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

    /// What the client holds, and has done.
    public var statistics: ClientStatistics { self.state.withLock { $0.currentStatistics } }

    /// The results of all events, with `collectsResults`; else the sequence is empty until the
    /// client's end.
    public var results: ClientResults { ClientResults(client: self) }

    /// The events without a final verdict, in the order in which they will be sent; also after the
    /// client's end.
    public func unacknowledged() -> [Sightline_V1_TrackingEvent] {
        let tickets = self.state.withLock { $0.outbox.unsettled }
        // They were encoded by SwiftProtobuf, or are what a spool's checksum covers.
        return tickets.compactMap { try? Sightline_V1_TrackingEvent(serializedBytes: $0.bytes) }
    }

    /// The time since the client was made.
    func now() -> Duration { ContinuousClock.now - self.start }

    /// The oldest result that was not read; waits for one. Nil after the client's end, and where
    /// the task is cancelled.
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
        let taking = try self.state.withLock { try $0.take(bytes, now: self.now) }
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
