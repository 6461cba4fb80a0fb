internal import GRPCCore
internal import SightlineProtos
internal import Synchronization

/// The state of one `send` that its tasks share: performs what `UnacknowledgedRequests` decides.
final class SendSession: Sendable {
    private struct State: Sendable {
        var requests: UnacknowledgedRequests
        var summary = SendSummary()
        var readCount = 0
        var streamCount = 0
        var lastFailure: String?
        var writerSignal = Signal()
    }

    private let state: Mutex<State>
    private let room = Signal()
    private let onProgress: @Sendable (SendProgress) -> Void

    init(limits: RequestLimits, onProgress: @escaping @Sendable (SendProgress) -> Void) {
        self.state = Mutex(State(requests: UnacknowledgedRequests(limits: limits)))
        self.onProgress = onProgress
    }

    var isDone: Bool { self.state.withLock { $0.requests.isDone } }
    var unsettledCount: Int { self.state.withLock { $0.requests.unsettledCount } }
    var stalledSince: ContinuousClock.Instant? { self.state.withLock { $0.requests.stalledSince } }
    var lastFailure: String? { self.state.withLock { $0.lastFailure } }

    var summary: SendSummary {
        self.state.withLock { state in
            var summary = state.summary
            summary.reconnectionCount = max(0, state.streamCount - 1)
            summary.resentRequestCount = state.requests.resentRequestCount
            return summary
        }
    }

    /// Reads the source to its end, with backpressure from unsettled events.
    func read<Events>(_ events: Events) async throws
    where Events: AsyncSequence & Sendable, Events.Element == OutgoingEvent {
        for try await event in events {
            while self.state.withLock({ !$0.requests.hasRoom }) {
                try await self.room.wait()
            }
            let writer = self.state.withLock { state in
                state.requests.add(event, now: .now)
                state.readCount += 1
                return state.writerSignal
            }
            writer.raise()
        }
        let writer = self.state.withLock { state in
            state.requests.endSource()
            return state.writerSignal
        }
        writer.raise()
    }

    /// Starts a stream; returns the signal that wakes its writer.
    func openStream() -> Signal {
        self.state.withLock { state in
            state.requests.openStream()
            state.streamCount += 1
            state.writerSignal = Signal()
            return state.writerSignal
        }
    }

    /// Writes requests until the stream ends or closes.
    func write(
        to writer: RPCWriter<Sightline_V1_StreamEventsRequest>, wokenBy signal: Signal
    ) async throws {
        while true {
            switch self.state.withLock({ $0.requests.nextStep(now: .now) }) {
            case .write(let request):
                self.room.raise()
                try await writer.write(request)
            case .report(let outcome):
                self.room.raise()
                self.report([outcome])
            case .wait(until: nil):
                try await signal.wait()
            case .wait(until: .some(let moment)):
                try await Task.sleep(until: moment, clock: .continuous)
            case .finish:
                return
            }
        }
    }

    /// Processes answers until the server ends the stream.
    func read(
        _ response: StreamingClientResponse<Sightline_V1_StreamEventsResponse>,
        waking signal: Signal
    ) async throws {
        defer {
            self.state.withLock { $0.requests.endStream() }
            signal.raise()
        }
        for try await message in response.messages {
            let outcomes = self.state.withLock { $0.requests.receive(message, now: .now) }
            signal.raise()
            self.report(outcomes)
        }
    }

    /// Reports a broken stream.
    func interrupt(_ failure: StreamFailure, delay: Duration) {
        let progress = self.state.withLock { state in
            state.lastFailure = "\(failure.code): \(failure.reason)"
            return SendProgress(
                readCount: state.readCount, settledCount: state.summary.settledCount,
                interruption: .init(reason: failure.reason, delay: delay))
        }
        self.onProgress(progress)
    }

    private func report(_ outcomes: [EventOutcome]) {
        let progress = self.state.withLock { state in
            for outcome in outcomes {
                state.summary.verdicts[outcome.result.verdict, default: 0] += 1
            }
            return SendProgress(
                outcomes: outcomes, readCount: state.readCount,
                settledCount: state.summary.settledCount)
        }
        self.onProgress(progress)
    }
}
