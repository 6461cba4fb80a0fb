/// Judges kept events again, and records those that are accepted now.
package protocol EventRecovery: Sendable {
    /// Recovers the events that match a filter.
    ///
    /// - Parameter app: replaces the events' own app; nil keeps it.
    /// - Throws: `RecoveryError`, or SQLite's error.
    func recover(_ filter: QuarantineFilter, app: String?) async throws -> RecoveryCounts
}

/// The outcomes of a recovery.
package struct RecoveryCounts: Codable, Sendable, Equatable {
    /// Accepted now, and no longer kept.
    package var accepted = 0
    /// Duplicates of recorded events, and no longer kept.
    package var duplicate = 0
    /// Suppressed now, which is final, and no longer kept.
    package var suppressed = 0
    /// Refused again, and still kept.
    package var refused = 0
    /// Why the recovery ended before all events were judged; nil if it did not.
    package var interruption: String?

    /// Creates counts of zero.
    package init() {}

    /// Adds counts, and keeps the first interruption.
    package static func += (left: inout Self, right: Self) {
        left.accepted += right.accepted
        left.duplicate += right.duplicate
        left.suppressed += right.suppressed
        left.refused += right.refused
        left.interruption = left.interruption ?? right.interruption
    }
}

/// Why a recovery cannot begin.
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
