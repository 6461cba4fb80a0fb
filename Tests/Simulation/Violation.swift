// What a history found.

/// A promise that was broken.
struct Violation: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// What happened in a history.
struct HistoryReport {
    var crashes = 0
    var powerCuts = 0
    var faults = 0
    var media = 0
    var acks = 0
    var calls = 0
    var gaps = 0
    var pauses = 0
    /// How often backends wanted no more.
    var gone = 0
    var replays = 0
    var interruptedReplays = 0
    /// Sinks that were added while a process ran, removed, and forgotten.
    var added = 0
    var removed = 0
    var forgotten = 0

    static func + (left: Self, right: Self) -> Self {
        Self(
            crashes: left.crashes + right.crashes, powerCuts: left.powerCuts + right.powerCuts,
            faults: left.faults + right.faults, media: left.media + right.media,
            acks: left.acks + right.acks, calls: left.calls + right.calls,
            gaps: left.gaps + right.gaps,
            pauses: left.pauses + right.pauses, gone: left.gone + right.gone,
            replays: left.replays + right.replays,
            interruptedReplays: left.interruptedReplays + right.interruptedReplays,
            added: left.added + right.added, removed: left.removed + right.removed,
            forgotten: left.forgotten + right.forgotten)
    }
}
