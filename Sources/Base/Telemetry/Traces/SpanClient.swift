internal import Pacing
internal import SightlineProtos

/// Sends batches of spans to an OTLP receiver, with retries. Its calls create no spans, which would
/// be exported in turn, endlessly.
struct SpanClient {
    private let receiver: any SpanCall
    private let configuration: TracesConfiguration
    private let clock: any Clock<Duration>

    init(
        _ receiver: any SpanCall, _ configuration: TracesConfiguration, clock: any Clock<Duration>
    ) {
        self.receiver = receiver
        self.configuration = configuration
        self.clock = clock
    }

    /// The outcome of a batch.
    enum Outcome: Equatable {
        /// The receiver accepted it, except for `rejected` spans; `message` may be empty.
        case taken(rejected: Int, message: String)
        /// The batch was not delivered.
        case lost(reason: String)
    }

    /// Sends a batch until the receiver accepts or refuses it, the timeout is over, or the task is
    /// cancelled.
    func export(_ spans: [SpanRecord]) async -> Outcome {
        let request = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceRequest(
            spans, resource: self.configuration.resource)
        var backoff = Backoff(first: .seconds(1), longest: .seconds(16))
        var generator = SystemRandomNumberGenerator()
        var timeLeft = self.configuration.exportTimeout
        while true {
            var attempt = Attempt.success(
                Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceResponse())
            timeLeft -= await self.clock.measure {
                attempt = await self.send(request, within: timeLeft)
            }
            switch attempt {
            case .success(let response):
                let partial = response.partialSuccess
                let rejected = min(max(Int(clamping: partial.rejectedSpans), 0), spans.count)
                return .taken(rejected: rejected, message: partial.errorMessage)
            case .failure(let error):
                guard case .transient(let retryAfter) = error.failure else {
                    return .lost(reason: error.reason)
                }
                let pause = retryAfter ?? backoff.next(using: &generator)
                timeLeft -= pause
                guard timeLeft > .zero, await self.wait(pause) else {
                    return .lost(reason: "no time left; the last try: \(error.reason)")
                }
            }
        }
    }

    private typealias Attempt = Result<
        Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceResponse, SpanCallError
    >

    private func send(
        _ request: Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceRequest,
        within timeLeft: Duration
    ) async -> Attempt {
        do {
            let timeout = min(self.configuration.callTimeout, timeLeft)
            return .success(try await self.receiver.export(request, within: timeout))
        } catch {
            return .failure(error)
        }
    }

    /// Waits for a pause; false if the task is cancelled.
    private func wait(_ pause: Duration) async -> Bool {
        do {
            try await self.clock.sleep(for: pause)
            return !Task.isCancelled
        } catch {
            return false
        }
    }
}
