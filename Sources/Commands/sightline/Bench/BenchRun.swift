internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import GRPCProtobuf
internal import Histogram
internal import SightlineClient
internal import SightlineProtos
internal import Synchronization

/// A run of a load over many connections, with one stream each: new events as fast as acks come (a
/// closed loop), or at a rate (an open loop).
final class BenchRun: Sendable {
    private typealias Response = Sightline_V1_StreamEventsResponse

    /// The counts of a run so far.
    struct Totals: Sendable {
        /// When the first stream was open.
        var start: ContinuousClock.Instant?
        var isOver = false
        var sentRequests = 0
        var settledRequests = 0
        /// Nanoseconds from sending a request, or in an open loop from when it was due, to its ack.
        var latencies = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        var verdicts = Sightline_V1_Tally()
    }

    /// The requests under way on a stream: at most 16.
    private final class Window: Sendable {
        /// Their sequences, and when each was sent or due.
        let requests = Mutex<[(sequence: UInt64, start: ContinuousClock.Instant)]>([])
        let (rooms, room) = AsyncStream<Void>.makeStream()
        /// Whether the server has announced that it will end the stream.
        let isClosing = Atomic(false)

        init() { for _ in 0..<16 { self.room.yield() } }
    }

    let plan: BenchPlan
    let events: BenchEvents
    private let address: ServerAddress
    let totals = Mutex(Totals())

    init(_ plan: BenchPlan, address: ServerAddress) throws {
        self.plan = plan
        self.events = try BenchEvents(plan.mix)
        self.address = address
    }

    /// Runs from the first connection to the last ack.
    ///
    /// - Throws: `TrackingClientError`, `SightlineClientError`.
    func run(_ security: ClientSecurity, _ credential: ClientCredential?) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.watch() }
            for _ in 0..<self.plan.connections {
                let transport = try security.transport(to: self.address)
                group.addTask {
                    try await withGRPCClient(transport: transport) {
                        try await self.send(over: $0, security, credential)
                    }
                }
            }
            // The watch ends only by an error.
            for _ in 0..<self.plan.connections { try await group.next() }
            group.cancelAll()
        }
    }

    /// Fails the run if no request is settled for 30 s.
    private func watch() async throws {
        var (settled, since) = (0, ContinuousClock.now)
        while true {
            try await Task.sleep(for: .seconds(1))
            let totals = self.totals.withLock { $0 }
            let unsettled = totals.sentRequests - totals.settledRequests
            if totals.settledRequests != settled || (unsettled == 0 && totals.start != nil) {
                (settled, since) = (totals.settledRequests, .now)
            }
            guard .now - since >= .seconds(30) else { continue }
            throw TrackingClientError.gaveUp(
                target: self.address.description, unsettled: unsettled * self.plan.batch,
                seconds: 30, lastFailure: nil, fix: nil)
        }
    }

    /// Sends this connection's share of the run on a stream, and on another if the server ends it.
    private func send(
        over client: GRPCClient<HTTP2ClientTransport.Posix>, _ security: ClientSecurity,
        _ credential: ClientCredential?
    ) async throws {
        while !self.totals.withLock({ $0.isOver }) {
            let window = Window()
            do {
                try await client.bidirectionalStreaming(
                    request: StreamingClientRequest(metadata: try credential?.metadata ?? [:]) {
                        try await self.write(to: $0, window)
                    },
                    descriptor: Sightline_V1_TrackingService.Method.StreamEvents.descriptor,
                    serializer: RequestSerializer(),
                    deserializer: ProtobufDeserializer<Response>(), options: .defaults
                ) { try await self.read($0, window) }
            } catch {
                try Task.checkCancellation()
                throw TrackingClientError(
                    StreamFailure(error, security: security),
                    target: self.address.description,
                    unsettled: window.requests.withLock { $0.count } * self.plan.batch)
            }
        }
    }

    /// Keeps the window full until the end of the run, or of the stream.
    private func write(to writer: RPCWriter<[UInt8]>, _ window: Window) async throws {
        for await _ in window.rooms where !window.isClosing.load(ordering: .relaxed) {
            guard let (events, due) = self.takeTurn() else { return }
            if let due { try await Task.sleep(until: due, tolerance: .zero, clock: .continuous) }
            guard !events.isEmpty else {
                window.room.yield()
                continue
            }
            // Sequences must rise, but may have gaps.
            let sequence = UInt64(events.upperBound)
            window.requests.withLock { $0.append((sequence, due ?? .now)) }
            try await writer.write(self.events.request(events, sequence: sequence))
        }
    }

    /// Takes the next request; nil at the end of the run. If it is due later than in a second, it
    /// is not taken; the empty result says when to ask again. A stream that the server is closing
    /// would otherwise wait too long: it has two seconds to end.
    private func takeTurn() -> (events: Range<Int>, due: ContinuousClock.Instant?)? {
        self.totals.withLock { state in
            let start = state.start ?? .now
            state.start = start
            guard let turn = self.plan.turn(state.sentRequests, elapsed: .now - start) else {
                state.isOver = true
                return nil
            }
            let (due, soon) = (turn.due.map { start + $0 }, ContinuousClock.now + .seconds(1))
            if let due, due > soon { return (0..<0, soon) }
            state.sentRequests += 1
            return (turn.events, due)
        }
    }

    /// Receives acks until the stream ends.
    private func read(_ response: StreamingClientResponse<Response>, _ window: Window) async throws
    {
        defer { window.room.finish() }
        for try await answer in response.messages {
            let now = ContinuousClock.now
            let settled = window.requests.withLock { requests in
                defer { requests.removeAll { $0.sequence <= answer.durableSequence } }
                return requests.prefix { $0.sequence <= answer.durableSequence }
            }
            // Writing stops; the server still acks the requests under way, and then ends the
            // stream.
            if answer.hasClosing {
                window.isClosing.store(true, ordering: .relaxed)
                window.room.finish()
            }
            for _ in settled { window.room.yield() }
            self.totals.withLock { state in
                state.settledRequests += settled.count
                for (_, start) in settled {
                    state.latencies.record(UInt64(max(now - start, .zero) / .nanoseconds(1)))
                }
                state.verdicts.accepted += answer.tally.accepted
                state.verdicts.suppressed += answer.tally.suppressed
                state.verdicts.duplicate += answer.tally.duplicate
                state.verdicts.rejected += answer.tally.rejected
                state.verdicts.retryLater += answer.tally.retryLater
            }
        }
    }
}
