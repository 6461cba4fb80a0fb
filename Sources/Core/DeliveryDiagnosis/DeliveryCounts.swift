internal import TrackingJournal
package import TrackingRules
internal import WireFormat

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
    /// What devices reported: events with any verdict, but for those of senders.
    private(set) var reports: UInt64 = 0
    /// What was not sent, by reason.
    private(set) var reasons: [SendReason: UInt64] = [:]
    /// What was sent and is settled, by who shows it.
    private(set) var displays: [SendDisplay: UInt64] = [:]
    /// What was sent, and the impressions, as far as they are settled.
    private(set) var settledSends: UInt64 = 0
    private(set) var settledImpressions: UInt64 = 0
    /// The counts of the apps' versions.
    private(set) var versions: [ExactText: Version] = [:]
    /// The counts of the same product without a platform, which may be this one's.
    private(set) var unplaced = Unplaced()

    /// Counts of a version of an app.
    struct Version {
        /// What was sent.
        fileprivate(set) var sends: UInt64 = 0
        /// What was sent, as far as it is settled.
        fileprivate(set) var settledSends: UInt64 = 0
        /// What devices reported.
        fileprivate(set) var reports: UInt64 = 0
        /// The same without what was reported before.
        fileprivate(set) var newReports: UInt64 = 0
    }

    /// Counts without a platform.
    struct Unplaced {
        /// What was sent.
        fileprivate(set) var sends: UInt64 = 0
        /// Impressions.
        fileprivate(set) var impressions: UInt64 = 0
    }

    private init(of row: LedgerRow) {
        self.platform = row.platform
        self.product = row.product
        self.delivery = row.delivery
    }

    /// The counts by platform and product, Android first.
    ///
    /// - Parameter hour: now, in hours since 1970.
    static func byPlatform(_ rows: [LedgerRow], hour: UInt32) -> [DeliveryCounts] {
        var counts: [UInt8: DeliveryCounts] = [:]
        for row in rows {
            let place =
                UInt8(truncatingIfNeeded: row.platform?.rawValue ?? 3) << 2 | row.product.rawValue
            // An hour's last event came almost an hour after it began.
            let isSettled =
                UInt64(row.hour) + UInt64(DeliveryDiagnosis.settlingHours) < UInt64(hour)
            counts[place, default: DeliveryCounts(of: row)].add(row, isSettled: isSettled)
        }
        var unplaced: [Product: Unplaced] = [:]
        for counts in counts.values where counts.platform == nil {
            unplaced[counts.product] = Unplaced(
                sends: counts.hits(.sent), impressions: counts.hits(.impression))
        }
        return counts.sorted { $0.key < $1.key }.map { _, counts in
            var counts = counts
            if counts.platform != nil { counts.unplaced = unplaced[counts.product] ?? Unplaced() }
            return counts
        }
    }

    private mutating func add(_ row: LedgerRow, isSettled: Bool) {
        if row.isReport { self.reports += row.count }
        switch row.outcome.meaning {
        case .version: self.addVersion(row, isSettled: isSettled)
        case .send:
            if let reason = row.mark.reason { self.reasons[reason, default: 0] += row.count }
            if isSettled, let display = row.mark.display {
                self.displays[display, default: 0] += row.count
            }
        case .accepted(let kinds):
            self.events += row.count
            self.accepted += row.count
            if isSettled, kinds == HitKinds(.sent) { self.settledSends += row.count }
            if isSettled, kinds == HitKinds(.impression) { self.settledImpressions += row.count }
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
        case .sentAndFailed, nil: break
        }
    }

    private mutating func addVersion(_ row: LedgerRow, isSettled: Bool) {
        guard let counted = row.counted, !row.appVersion.equals(Ledger.otherValue) else { return }
        var version = self.versions[ExactText(row.appVersion)] ?? Version()
        if counted == .accepted(HitKinds(.sent)) {
            version.sends += row.count
            if isSettled { version.settledSends += row.count }
        }
        if counted.isReport {
            version.reports += row.count
            let isRepeat = if case .duplicate = counted.meaning { true } else { false }
            if !isRepeat { version.newReports += row.count }
        }
        self.versions[ExactText(row.appVersion)] = version
    }

    /// What a sender tried to send.
    var attempts: UInt64 { self.hits(.sent) + self.hits(.sendFailed) }

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

extension LedgerRow {
    /// Whether it counts what a device reported, whatever became of it. A sender's event that was
    /// rejected for another field than its own counts too.
    var isReport: Bool {
        self.outcome.isReport
            && !(self.outcome == .refused(.rejected) && self.detail.hasPrefix("push_send."))
    }
}

extension LedgerOutcome {
    /// Whether it is of what a device reported, as far as the outcome tells.
    var isReport: Bool {
        switch self.meaning {
        case .accepted(let kinds), .duplicate(let kinds):
            kinds.rawValue & HitKinds.sends.rawValue == 0
        case .refused: true
        case .warning, .closedImpression, .version, .send, .sentAndFailed, nil: false
        }
    }
}
