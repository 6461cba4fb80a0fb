internal import TrackingJournal
package import TrackingRules

/// The counts of a delivery on one platform, as the diagnosis reads them.
package struct DeliveryCounts: Sendable {
    /// The platform; nil for events without one.
    package let platform: Platform?
    /// The product that made the delivery.
    package let product: Product
    /// The delivery's id.
    let delivery: String
    /// Events with any verdict.
    private(set) var events: UInt64 = 0
    /// Accepted events.
    private(set) var accepted: UInt64 = 0
    /// Events whose facts were known.
    private(set) var duplicates: UInt64 = 0
    private var hits: [HitKind: UInt64] = [:]
    private var repeats: [HitKind: UInt64] = [:]
    private var warnings: [UInt8: UInt64] = [:]
    private var refusals: [Verdict: UInt64] = [:]
    /// Impressions of a closed app on iOS.
    private(set) var closedImpressions: UInt64 = 0
    /// Events with an unknown flag, by the flag's value.
    private(set) var flags: [String: UInt64] = [:]
    /// Rejected events by field and rule.
    private(set) var rejections: [String: UInt64] = [:]

    private init(of row: LedgerRow) {
        self.platform = row.platform
        self.product = row.product
        self.delivery = row.delivery
    }

    /// The counts by platform and product, Android first.
    static func byPlatform(_ rows: [LedgerRow]) -> [DeliveryCounts] {
        var counts: [UInt8: DeliveryCounts] = [:]
        for row in rows {
            let place =
                UInt8(truncatingIfNeeded: row.platform?.rawValue ?? 3) << 2 | row.product.rawValue
            counts[place, default: DeliveryCounts(of: row)].add(row)
        }
        return counts.sorted { $0.key < $1.key }.map(\.value)
    }

    private mutating func add(_ row: LedgerRow) {
        switch row.outcome.meaning {
        case .accepted(let kinds):
            self.events += row.count
            self.accepted += row.count
            for kind in kinds.kinds { self.hits[kind, default: 0] += row.count }
        case .duplicate(let kinds):
            self.events += row.count
            self.duplicates += row.count
            for kind in kinds.kinds { self.repeats[kind, default: 0] += row.count }
        case .warning(let number): self.warnings[number, default: 0] += row.count
        case .closedImpression: self.closedImpressions += row.count
        case .refused(let verdict):
            self.events += row.count
            self.refusals[verdict, default: 0] += row.count
            if verdict == .suppressedFlagUnknown { self.flags[row.detail, default: 0] += row.count }
            if verdict == .rejected { self.rejections[row.detail, default: 0] += row.count }
        case nil: break
        }
    }

    /// Hits of a kind.
    func hits(_ kind: HitKind) -> UInt64 { self.hits[kind] ?? 0 }

    /// Reports of a kind of hit, including those of known hits.
    func reports(_ kind: HitKind) -> UInt64 { self.hits(kind) + self.repeats(kind) }

    /// Reports of known hits of a kind: duplicates.
    func repeats(_ kind: HitKind) -> UInt64 { self.repeats[kind] ?? 0 }

    /// Accepted events with a warning; duplicates too if it is that of a placeholder.
    func warned(_ warning: Warnings) -> UInt64 {
        warning.numbers.first.flatMap { self.warnings[$0] } ?? 0
    }

    /// Events that the rules refused with a verdict.
    func refused(_ verdict: Verdict) -> UInt64 { self.refusals[verdict] ?? 0 }
}
