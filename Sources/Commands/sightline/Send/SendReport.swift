internal import Foundation
internal import SightlineClient
internal import Synchronization
internal import TrackingReport
internal import WireFormat

/// Prints the progress and the outcomes of `send`, in order, from several tasks.
final class SendReport: Sendable {
    /// The maximum number of malformed lines printed; further ones are only counted.
    private static let maxBadLines = 20

    private struct State: Sendable {
        var table = VerdictTable()
        var bar: ProgressBar
        var badLineCount = 0
    }

    private let state: Mutex<State>
    private let json: Bool
    private let target: String

    init(json: Bool, total: Int?, target: String) {
        self.state = Mutex(State(bar: ProgressBar(total: total)))
        self.json = json
        self.target = target
    }

    /// Whether any line was malformed.
    var hasBadLines: Bool { self.state.withLock { $0.badLineCount > 0 } }

    /// Prints and counts outcomes.
    func take(_ progress: SendProgress) {
        self.state.withLock { state in
            for outcome in progress.outcomes {
                state.table.add(outcome)
                if self.json { self.printLine(outcome) }
            }
            if let interruption = progress.interruption {
                state.bar.erase()
                let milliseconds = Int(interruption.delay / .milliseconds(1))
                Console.error(
                    "sightline: no stream to \(self.target): \(interruption.reason.printable); "
                        + "trying again in \(milliseconds) ms")
            }
            state.bar.draw(settled: progress.settledCount, read: progress.readCount)
        }
    }

    /// Prints and counts a malformed line.
    func takeBadLine(_ bad: BadLine, at origin: EventOrigin) {
        self.state.withLock { state in
            state.badLineCount += 1
            guard state.badLineCount <= Self.maxBadLines else { return }
            state.bar.erase()
            Console.error(Self.text(bad, at: origin))
        }
    }

    /// Prints the table, unless --json is set; pass nil if sending failed.
    func printTable(_ statistics: ClientStatistics?) {
        self.state.withLock { state in
            state.bar.erase()
            if state.badLineCount > Self.maxBadLines {
                Console.error("\(state.badLineCount - Self.maxBadLines) more lines were bad")
            }
            if state.badLineCount > 0 {
                Console.error(
                    "\(state.badLineCount) bad lines were not sent; fix them and send only those")
            }
            guard !self.json, statistics != nil || state.table.eventCount > 0 else { return }
            for line in state.table.lines() {
                Console.out(Self.coloured(line))
            }
            if let statistics, statistics.reconnectionCount > 0 {
                Console.out(
                    "connected again \(statistics.reconnectionCount) times, sent "
                        + "\(statistics.resentRequestCount) requests again (events of those that "
                        + "the server knew already count as DUPLICATE)")
            }
        }
    }

    /// `file:line:column: reason`, as compilers write it.
    static func text(_ bad: BadLine, at origin: EventOrigin) -> String {
        let column = bad.column.map { ":\($0)" } ?? ""
        return "\(origin.description.printable)\(column): \(bad.reason)"
    }

    private func printLine(_ outcome: EventOutcome) {
        do {
            try Console.json(ResultLine(outcome))
        } catch {
            Console.error("sightline: a result cannot be written as JSON: \(error)")
        }
    }

    private static func coloured(_ line: String) -> String {
        if line.hasPrefix("ACCEPTED") { return Console.coloured(line, .green) }
        if line.hasPrefix("REJECTED") { return Console.coloured(line, .red) }
        if line.hasPrefix("SUPPRESSED") || line.hasPrefix("DUPLICATE") {
            return Console.coloured(line, .yellow)
        }
        return line
    }
}
