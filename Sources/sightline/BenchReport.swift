// What `bench` measures: a histogram of latencies, and counts by verdict.
internal import Foundation
internal import Histogram
internal import Synchronization
internal import TrackingClient
internal import TrackingCore

/// Takes answers from all streams.
final class BenchReport: Sendable {
    private struct State: Sendable {
        /// Nanoseconds, to three digits; it grows with the largest.
        var latencies = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        var tally = Tally()
    }

    private let state = Mutex(State())
    private let plan: BenchPlan
    private let processorSecondsBefore = BenchReport.processorSeconds()

    init(_ plan: BenchPlan) { self.plan = plan }

    /// Notes an answer.
    func take(_ answer: BenchAnswer) {
        self.state.withLock { state in
            for latency in answer.latencies {
                let nanoseconds = max(latency, .zero) / .nanoseconds(1)
                state.latencies.record(UInt64(nanoseconds))
            }
            state.tally += answer.tally
        }
    }

    /// The run's figures, once it is over.
    func figures(_ summary: BenchSummary) -> BenchFigures {
        let processorSeconds = Self.processorSeconds() - self.processorSecondsBefore
        return self.state.withLock { state in
            BenchFigures(
                self.plan, summary, tally: state.tally,
                latency: BenchFigures.Latency(state.latencies),
                processorSeconds: processorSeconds)
        }
    }

    /// Processor time of this process so far; POSIX has it counted in millionths of a second.
    private static func processorSeconds() -> Double { Double(clock()) / 1e6 }
}
