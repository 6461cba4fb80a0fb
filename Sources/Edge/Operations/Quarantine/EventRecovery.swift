/// Judges kept events again, and records those that pass now.
package protocol EventRecovery: Sendable {
    /// Recovers the events that a filter takes.
    ///
    /// - Parameter app: the app that they get instead of their own; nil leaves it.
    /// - Throws: `RecoveryError`, or SQLite's error.
    func recover(_ filter: QuarantineFilter, app: String?) async throws -> RecoveryCounts
}

/// What became of the events of a recovery.
package struct RecoveryCounts: Codable, Sendable, Equatable {
    /// Accepted now, and no longer kept.
    package var accepted = 0
    /// Known already, and no longer kept.
    package var duplicate = 0
    /// Suppressed now, which is final, and no longer kept.
    package var suppressed = 0
    /// Refused again, and still kept.
    package var refused = 0
    /// Why it ended before all were judged; nil if they were.
    package var interruption: String?

    /// Creates counts of nothing.
    package init() {}

    /// Adds counts; the first interruption counts.
    package static func += (left: inout Self, right: Self) {
        left.accepted += right.accepted
        left.duplicate += right.duplicate
        left.suppressed += right.suppressed
        left.refused += right.refused
        left.interruption = left.interruption ?? right.interruption
    }
}

/// A recovery that cannot begin.
package enum RecoveryError: Error, CustomStringConvertible {
    /// The quarantine is off.
    case off
    /// Another recovery is under way.
    case busy

    /// What happened, and the fix.
    package var description: String {
        switch self {
        case .off: "nothing is kept: quarantine.max_bytes is 0"
        case .busy: "another recovery is under way: wait for its end"
        }
    }
}
