package import TrackingRules

/// All events that the ledger has, by what became of them. The counts of a process begin with its
/// start; these survive it.
package struct LedgerTotals: Sendable, Equatable {
    /// Rejected events whose first broken rule is the same one.
    package struct Rejection: Sendable, Equatable {
        /// The field and the rule, as `push.raw.json._mId required`; empty where the ledger was
        /// full. No client's text.
        package let brokenRule: String
        /// The events.
        package let events: UInt64
        /// The last hour in which one was received, since 1970; its first hour for older days.
        package let lastHour: UInt32
    }

    /// Events that gave a hit.
    package private(set) var accepted: UInt64 = 0
    /// Events whose hits were known.
    package private(set) var duplicates: UInt64 = 0
    /// Events that the rules refused, by the verdict's number.
    private var refused = [UInt64](repeating: 0, count: LedgerOutcome.count)
    /// The rejections, the most recent first, then by their rule.
    package private(set) var rejections: [Rejection] = []

    /// The totals of a ledger. Reads the whole table.
    package init(_ ledger: Ledger) {
        var rejected: [LedgerText: (events: UInt64, lastHour: UInt32)] = [:]
        for row in ledger.allCounts {
            switch row.key.outcome.meaning {
            case .accepted: self.accepted &+= row.count
            case .duplicate: self.duplicates &+= row.count
            case .warning, .closedImpression, .version, .send, .sentAndFailed, nil: continue
            case .refused(let verdict):
                self.refused[Int(row.key.outcome.rawValue)] &+= row.count
                guard verdict == .rejected else { continue }
                let known = rejected[LedgerText(row.key.detail)] ?? (events: 0, lastHour: 0)
                rejected[LedgerText(row.key.detail)] = (
                    known.events &+ row.count, max(known.lastHour, row.key.hour)
                )
            }
        }
        self.rejections = rejected.map { rule, counts in
            Rejection(
                brokenRule: rule.text, events: counts.events, lastHour: counts.lastHour)
        }.sorted {
            ($1.lastHour, $0.brokenRule) < ($0.lastHour, $1.brokenRule)
        }
    }

    /// The events that the rules refused with a verdict.
    package func refused(_ verdict: Verdict) -> UInt64 {
        self.refused[Int(LedgerOutcome.refused(verdict).rawValue)]
    }
}
