internal import Foundation

/// The progress of `send` on one line of standard error, which is redrawn: a bar if the total is
/// known, otherwise counts.
struct ProgressBar: Sendable {
    private static let cellCount = 30
    private static let drawInterval: Duration = .milliseconds(100)

    private let total: Int?
    private let start: ContinuousClock.Instant
    private var lastDrawn: ContinuousClock.Instant?

    /// Creates a bar; `total` is the number of events, nil if unknown.
    init(total: Int?, start: ContinuousClock.Instant = .now) {
        self.total = total
        self.start = start
    }

    /// Redraws the line, unless it was drawn recently.
    mutating func draw(settled: Int, read: Int, now: ContinuousClock.Instant = .now) {
        guard Console.isErrorTerminal else { return }
        if let lastDrawn, now - lastDrawn < Self.drawInterval { return }
        self.lastDrawn = now
        let text = self.text(settled: settled, read: read, now: now)
        Console.write("\r\u{1B}[K" + text, to: STDERR_FILENO)
    }

    /// Erases the line, so that other text may follow.
    mutating func erase() {
        guard Console.isErrorTerminal, self.lastDrawn != nil else { return }
        self.lastDrawn = nil
        Console.write("\r\u{1B}[K", to: STDERR_FILENO)
    }

    /// The line without terminal control characters.
    func text(settled: Int, read: Int, now: ContinuousClock.Instant) -> String {
        let seconds = max((now - self.start) / .seconds(1), 0.001)
        let rate = "\(Int(clamping: Int64(Double(settled) / seconds)))/s"
        guard let total = self.total, total > 0 else {
            return "\(settled) of \(read) events settled  \(rate)"
        }
        let share = min(Double(settled) / Double(total), 1)
        let filled = Int(share * Double(Self.cellCount))
        let bar =
            String(repeating: "█", count: filled)
            + String(repeating: "░", count: Self.cellCount - filled)
        return "\(bar) \(Int(share * 100)) %  \(settled)/\(total)  \(rate)"
    }
}
