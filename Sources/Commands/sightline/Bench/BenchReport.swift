internal import Foundation
internal import Histogram
internal import Synchronization
internal import TrackingRules

/// Collects the latencies and verdicts of all streams' answers.
package final class BenchReport: Sendable {
    private struct State: Sendable {
        /// In nanoseconds, with three significant digits; grows with the largest value.
        var latencies = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        var tally = Tally()
    }

    private let state = Mutex(State())
    private let plan: BenchPlan
    private let processorSecondsBefore = BenchReport.processorSeconds()

    /// Creates an empty report of a plan.
    package init(_ plan: BenchPlan) { self.plan = plan }

    /// Records an answer.
    package func take(_ answer: BenchAnswer) {
        self.state.withLock { state in
            for latency in answer.latencies {
                let nanoseconds = max(latency, .zero) / .nanoseconds(1)
                state.latencies.record(UInt64(nanoseconds))
            }
            state.tally += answer.tally
        }
    }

    /// The figures of a finished run.
    package func figures(_ summary: BenchSummary) -> BenchFigures {
        let processorSeconds = Self.processorSeconds() - self.processorSecondsBefore
        return self.state.withLock { state in
            BenchFigures(
                self.plan, summary, tally: state.tally,
                latency: BenchFigures.Latency(state.latencies),
                processorSeconds: processorSeconds)
        }
    }

    /// The processor time of this process; `clock` counts microseconds on POSIX.
    private static func processorSeconds() -> Double { Double(clock()) / 1e6 }
}
