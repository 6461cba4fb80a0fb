// `make simulate SECONDS=…`: runs histories with consecutive seeds.
internal import Foundation

/// Runs histories until the time is over, or the history of one seed.
@main
struct Simulate {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        Self.orderHashes()
        SQLiteDisk.register()
        Scheduler.takeOver()
        if let seed = Self.value("--seed", arguments).flatMap({ UInt64($0) }) {
            Self.end(Self.run(seed) { print($0) }.violation.map { (seed, $0) })
        }
        let seconds = Self.value("--seconds", arguments).flatMap(Double.init) ?? 60
        let first =
            Self.value("--from", arguments).flatMap { UInt64($0) } ?? .random(in: 1...1 << 40)
        var search = try Search.continued() ?? Search(first: first)
        let found = try search.run(seconds: seconds) { Self.run($0) }
        print(search)
        Self.end(found)
    }

    /// Makes hashing deterministic, which Swift supports only from the start of a process.
    private static func orderHashes() {
        let name = "SWIFT_DETERMINISTIC_HASHING"
        guard getenv(name) == nil else { return }
        setenv(name, "1", 1)
        Self.startAgain()
    }

    /// Executes the program again in place of this process.
    static func startAgain() -> Never {
        let arguments = CommandLine.arguments.map { strdup($0) } + [nil]
        execv("/proc/self/exe", arguments)
        fatalError("cannot start again: \(String(cString: strerror(errno)))")
    }

    private static func value(_ name: String, _ arguments: ArraySlice<String>) -> String? {
        guard let index = arguments.firstIndex(of: name) else { return nil }
        return arguments.indices.contains(index + 1) ? arguments[index + 1] : nil
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
