// `make simulate SECONDS=…`: histories one after the other, each of its own seed. `make
// simulate-year`: a year on real files.
internal import Dispatch
internal import Foundation

/// Runs histories until the time is over, or the one of a seed.
@main
struct Simulate {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        Self.orderHashes()
        if let days = Self.value("--year", arguments).flatMap({ Int($0) }) {
            Self.live(days: days, seed: Self.value("--seed", arguments).flatMap { UInt64($0) })
        }
        SQLiteDisk.register()
        Scheduler.takeOver()
        if let seed = Self.value("--seed", arguments).flatMap({ UInt64($0) }) {
            Self.end(Self.run(seed) { print($0) }.violation.map { (seed, $0) })
        }
        let seconds = Self.value("--seconds", arguments).flatMap(Double.init) ?? 60
        let first =
            Self.value("--from", arguments).flatMap { UInt64($0) } ?? .random(in: 1...1 << 40)
        Self.end(Self.search(from: first, seconds: seconds))
    }

    /// Lives a year, on real files and threads: none of what follows in `main` is set up then.
    private static func live(days: Int, seed: UInt64?) -> Never {
        let plan = YearPlan(
            seed: seed ?? .random(in: 1...1 << 40), days: days,
            eventsPerRequest: YearPlan.standardEventsPerRequest, isAlone: true)
        print(
            "a year of \(plan.days) days from seed \(plan.seed): each event stands for "
                + "\(plan.scale)\n\(YearMeasure.heading)")
        Task {
            do {
                try await Year(plan) { print($0.line) }.run()
                print("no violation")
                exit(0)
            } catch {
                print("seed \(plan.seed): \(error)")
                print("again: make simulate-year DAYS=\(plan.days) SEED=\(plan.seed)")
                exit(1)
            }
        }
        dispatchMain()
    }

    /// Swift orders sets and dictionaries anew in each process, unless it is told not to when the
    /// process starts.
    private static func orderHashes() {
        let name = "SWIFT_DETERMINISTIC_HASHING"
        guard getenv(name) == nil else { return }
        setenv(name, "1", 1)
        let arguments = CommandLine.arguments.map { strdup($0) } + [nil]
        execv("/proc/self/exe", arguments)
        fatalError("cannot start again: \(String(cString: strerror(errno)))")
    }

    private static func value(_ name: String, _ arguments: ArraySlice<String>) -> String? {
        guard let index = arguments.firstIndex(of: name) else { return nil }
        return arguments.indices.contains(index + 1) ? arguments[index + 1] : nil
    }

    private static func search(
        from first: UInt64, seconds: Double
    ) -> (seed: UInt64, violation: Violation)? {
        let start = Date()
        var (count, report) = (0, HistoryReport())
        var found: (UInt64, Violation)?
        while found == nil, Date().timeIntervalSince(start) < seconds {
            let seed = first &+ UInt64(count)
            let (result, violation) = Self.run(seed)
            report = report + result
            count += 1
            found = violation.map { (seed, $0) }
        }
        let elapsed = Date().timeIntervalSince(start)
        print(
            "\(count) histories from seed \(first) in \(Int(elapsed)) s "
                + "(\(Int(Double(count) / max(elapsed, 0.001) * 60)) a minute): "
                + "\(report.crashes) crashes, \(report.powerCuts) of them power cuts, "
                + "\(report.faults) failed calls of \(report.calls), "
                + "\(report.media) damaged files, "
                + "\(report.gaps) gaps, \(report.pauses) pauses, "
                + "\(report.gone) times that a backend wanted no more, "
                + "\(report.replays) replays (\(report.interruptedReplays) interrupted), "
                + "\(report.added) sinks added, \(report.removed) removed, "
                + "\(report.forgotten) forgotten, \(report.acks) acks, "
                + "\(found == nil ? 0 : 1) violations"
        )
        return found
    }

    private static func run(
        _ seed: UInt64, onTrace: ((String) -> Void)? = nil
    ) -> (HistoryReport, violation: Violation?) {
        do {
            return (try History(seed: seed, onTrace: onTrace).run(), nil)
        } catch {
            return (HistoryReport(), error as? Violation ?? Violation("\(error)"))
        }
    }

    private static func end(_ found: (seed: UInt64, violation: Violation)?) -> Never {
        guard let found else {
            print("no violation")
            exit(0)
        }
        print("seed \(found.seed): \(found.violation)")
        print("again: make simulate SEED=\(found.seed)")
        exit(1)
    }
}
