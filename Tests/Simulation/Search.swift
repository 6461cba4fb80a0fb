// Runs histories in consecutive processes, because each failed simulated process leaks about 0.3
// MB.
internal import Foundation

/// The progress of a search.
struct Search: Codable {
    let first: UInt64
    private var count = 0
    private var elapsed = 0.0
    private var report = HistoryReport()
    private var hasFound = false

    /// The maximum histories per process.
    private static let maxHistories = 2000
    private static let variable = "SIMULATE_SO_FAR"

    init(first: UInt64) { self.first = first }

    /// The search that the previous process started; nil if there is none.
    static func continued() throws -> Search? {
        guard let text = getenv(Self.variable) else { return nil }
        return try JSONDecoder().decode(Self.self, from: Data(String(cString: text).utf8))
    }

    /// Runs histories until the time is over or one finds a violation. Does not return if another
    /// process continues.
    mutating func run(
        seconds: Double, _ history: (UInt64) -> (HistoryReport, violation: Violation?)
    ) throws -> (seed: UInt64, violation: Violation)? {
        let start = Date()
        let before = self.elapsed
        for _ in 0..<Self.maxHistories {
            let seed = self.first &+ UInt64(self.count)
            let (report, violation) = history(seed)
            self.report = self.report + report
            self.count += 1
            self.elapsed = before + Date().timeIntervalSince(start)
            self.hasFound = violation != nil
            if let violation { return (seed, violation) }
            if self.elapsed >= seconds { return nil }
        }
        setenv(Self.variable, String(decoding: try JSONEncoder().encode(self), as: UTF8.self), 1)
        Simulate.startAgain()
    }
}

extension Search: CustomStringConvertible {
    var description: String {
        "\(self.count) histories from seed \(self.first) in \(Int(self.elapsed)) s "
            + "(\(Int(Double(self.count) / max(self.elapsed, 0.001) * 60)) a minute): "
            + "\(self.report.crashes) crashes, \(self.report.powerCuts) of them power cuts, "
            + "\(self.report.faults) failed calls of \(self.report.calls), "
            + "\(self.report.media) damaged files, \(self.report.acks) acks, "
            + "\(self.hasFound ? 1 : 0) violations"
    }
}
