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

    static func + (left: Self, right: Self) -> Self {
        Self(
            crashes: left.crashes + right.crashes, powerCuts: left.powerCuts + right.powerCuts,
            faults: left.faults + right.faults, media: left.media + right.media,
            acks: left.acks + right.acks, calls: left.calls + right.calls,
            gaps: left.gaps + right.gaps,
            pauses: left.pauses + right.pauses)
    }
}
