package import TrackingRules

/// The funnel of a delivery as the ledger counts it: the hits of its accepted events, by kind. iOS
/// is separate, because it does not report every impression (D16, D20).
package struct LedgerFunnel: Sendable {
    /// Hits of one kind.
    package struct Count: Sendable, Equatable {
        /// From Android and other platforms.
        package var other: UInt64 = 0
        /// From iOS.
        package var ios: UInt64 = 0

        /// Both.
        package var sum: UInt64 { self.other &+ self.ios }
    }

    /// Whether it is an in-app message.
    package let isInApp: Bool
    /// Impressions, without those of payloads that show nothing.
    package var impressions: Count {
        let (all, left) = (self.allImpressions, self.nothingShown)
        return Count(
            other: all.other - min(all.other, left.other), ios: all.ios - min(all.ios, left.ios))
    }
    private var allImpressions = Count()
    /// Impressions of payloads that show nothing, which no ratio counts (D63).
    package private(set) var nothingShown = Count()
    /// Clicks: openings and dismissals together (D14). Two buttons of one notification are two
    /// clicks (D17).
    package private(set) var clicks = Count()
    /// Opens.
    package private(set) var opens = Count()
    private var inAppDismissals = Count()
    /// Campaign Standard's clicks and opens: Classic has no opens, and reports no dismissals (D21).
    private var (standardClicks, standardOpens) = (Count(), Count())
    /// Failed displays of an in-app message.
    package private(set) var displayErrors = Count()
    /// Notifications that a push service took, as their sender has reported it.
    package private(set) var sent = Count()
    /// Notifications of which an attempt failed, whatever became of later ones.
    package private(set) var failed = Count()
    /// Notifications that their sender skipped.
    package private(set) var skipped = Count()
    /// Notifications of which an attempt failed and that a push service took. The two may be told
    /// of different platforms, so that only its sum says anything.
    private var sentAndFailed: UInt64 = 0
    /// Campaign Standard's notifications that a push service took.
    private var standardSent = Count()
    /// Triggers of an in-app message.
    package private(set) var triggered = Count()
    /// Triggers of an in-app message while the app suppressed display.
    package private(set) var suppressed = Count()
    /// Hits of all kinds, those of buttons included.
    package private(set) var hits: UInt64 = 0
    /// The hits received since the requested hour.
    package private(set) var recentHits: UInt64 = 0
    /// The key of one of its rows.
    private let key: LedgerKey

    fileprivate init(_ key: LedgerKey, isInApp: Bool) {
        self.key = key
        self.isInApp = isInApp
    }

    /// Dismissals of an in-app message; of a push notification the clicks that opened nothing
    /// (D14), none with Classic.
    package var dismissals: Count {
        if self.isInApp { return self.inAppDismissals }
        return Count(
            other: self.standardClicks.other
                - min(self.standardClicks.other, self.standardOpens.other),
            ios: self.standardClicks.ios - min(self.standardClicks.ios, self.standardOpens.ios))
    }

    /// The tenant that sent the events.
    package var tenant: String { String(decoding: self.key.tenant, as: UTF8.self) }

    /// deliveryId, or an in-app message's id; cut to 64 bytes.
    package var delivery: String { String(decoding: self.key.delivery, as: UTF8.self) }

    /// Clicks per impression, without iOS (D20); of an in-app message, on all platforms. Nil
    /// without impressions.
    package var clickRatio: Double? {
        self.isInApp
            ? Self.ratio(self.clicks.sum, of: self.impressions.sum)
            : Self.ratio(self.clicks.other, of: self.impressions.other)
    }

    /// Opens per impression, without iOS; nil without impressions, and for an in-app message, which
    /// has no opens.
    package var openRatio: Double? {
        self.isInApp ? nil : Self.ratio(self.opens.other, of: self.impressions.other)
    }

    /// Whether a sender has reported anything.
    package var hasSends: Bool { self.sent.sum | self.failed.sum | self.skipped.sum != 0 }

    /// What its sender has told, on all platforms.
    package var sends: SendFacts {
        SendFacts(
            sent: self.sent.sum, failed: self.failed.sum, sentAndFailed: self.sentAndFailed)
    }

    /// Opens per notification that a push service took, on all platforms; nil without these, and
    /// for Classic.
    package var openRate: Double? { Self.ratio(self.standardOpens.sum, of: self.standardSent.sum) }

    /// Clicks per notification that a push service took, on all platforms; nil without these.
    package var clickThroughRate: Double? { Self.ratio(self.clicks.sum, of: self.sent.sum) }

    private static func ratio(_ part: UInt64, of whole: UInt64) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }

    /// Adds a row's hits. It looks at single bits: `kinds.kinds` allocates, and runs for each row.
    fileprivate mutating func add(
        _ row: Ledger.Row, _ kinds: HitKinds, isIOS: Bool, isStandard: Bool, since: UInt32
    ) {
        func holds(_ kind: HitKind) -> Bool { kinds.rawValue & HitKinds(kind).rawValue != 0 }
        let hits = row.count &* UInt64(kinds.rawValue.nonzeroBitCount)
        self.hits &+= hits
        if row.key.hour >= since { self.recentHits &+= hits }
        if holds(.impression) || holds(.inAppImpression) {
            self.allImpressions.add(row.count, isIOS)
        }
        if holds(.click) || holds(.inAppClick) { self.clicks.add(row.count, isIOS) }
        if holds(.open) { self.opens.add(row.count, isIOS) }
        if isStandard, holds(.click) { self.standardClicks.add(row.count, isIOS) }
        if isStandard, holds(.open) { self.standardOpens.add(row.count, isIOS) }
        if holds(.inAppDismissal) { self.inAppDismissals.add(row.count, isIOS) }
        if holds(.inAppDisplayError) { self.displayErrors.add(row.count, isIOS) }
        if holds(.sent) { self.sent.add(row.count, isIOS) }
        if isStandard, holds(.sent) { self.standardSent.add(row.count, isIOS) }
        if holds(.sendFailed) { self.failed.add(row.count, isIOS) }
        if holds(.sendSkipped) { self.skipped.add(row.count, isIOS) }
        if holds(.inAppTriggered) { self.triggered.add(row.count, isIOS) }
        if holds(.inAppSuppressed) { self.suppressed.add(row.count, isIOS) }
    }

    /// Adds a row of impressions that showed nothing, which another row counts as well.
    fileprivate mutating func addNothingShown(_ row: Ledger.Row, isIOS: Bool) {
        self.nothingShown.add(row.count, isIOS)
    }

    /// Adds a row of notifications that were sent and that failed, which other rows count as well.
    fileprivate mutating func addSentAndFailed(_ row: Ledger.Row) {
        self.sentAndFailed &+= row.count
    }

    /// Whether it is busier. The names decide between equally busy ones, so that the order is
    /// stable.
    fileprivate func precedes(_ other: LedgerFunnel) -> Bool {
        if self.recentHits != other.recentHits { return self.recentHits > other.recentHits }
        if self.hits != other.hits { return self.hits > other.hits }
        if self.key.delivery != other.key.delivery {
            return self.key.delivery.lexicographicallyPrecedes(other.key.delivery)
        }
        if self.key.tenant != other.key.tenant {
            return self.key.tenant.lexicographicallyPrecedes(other.key.tenant)
        }
        return !self.isInApp && other.isInApp
    }
}

extension LedgerFunnel.Count {
    fileprivate mutating func add(_ count: UInt64, _ isIOS: Bool) {
        if isIOS { self.ios &+= count } else { self.other &+= count }
    }
}

extension Ledger {
    /// The funnels of the busiest deliveries, and the number of all deliveries with a hit.
    package struct Funnels: Sendable {
        /// The busiest ones, busiest first.
        package fileprivate(set) var busiest: [LedgerFunnel] = []
        /// The deliveries and in-app messages that have a hit.
        package fileprivate(set) var count = 0
    }

    /// The deliveries with the most hits since an hour, each with all that the ledger has of it.
    /// Reads the whole table, in the memory of `limit` funnels.
    ///
    /// - Parameters:
    ///   - hour: in hours since 1970.
    ///   - limit: the maximum number of funnels.
    package func funnels(busiestSince hour: UInt32, limit: Int) -> Funnels {
        var funnels = Funnels()
        for rows in self.rowsByDelivery {
            // A delivery and an in-app message may have the same id.
            var delivery: LedgerFunnel?
            var message: LedgerFunnel?
            for row in rows {
                let facts = LedgerSubject.facts(of: row.key.facts)
                let isIOS = facts.platform == .ios
                if row.key.outcome == .nothingShown {
                    delivery = delivery ?? LedgerFunnel(row.key, isInApp: false)
                    delivery?.addNothingShown(row, isIOS: isIOS)
                    continue
                }
                if row.key.outcome == .sentAndFailed {
                    delivery = delivery ?? LedgerFunnel(row.key, isInApp: false)
                    delivery?.addSentAndFailed(row)
                    continue
                }
                guard case .accepted(let kinds) = row.key.outcome.meaning else { continue }
                if facts.product == .firebase {
                    message = message ?? LedgerFunnel(row.key, isInApp: true)
                    message?.add(row, kinds, isIOS: isIOS, isStandard: false, since: hour)
                } else {
                    delivery = delivery ?? LedgerFunnel(row.key, isInApp: false)
                    delivery?.add(
                        row, kinds, isIOS: isIOS, isStandard: facts.product == .standard,
                        since: hour)
                }
            }
            for funnel in [delivery, message] {
                // What counts hits again that the ledger has no longer is no funnel.
                if let funnel, funnel.hits > 0 { funnels.add(funnel, limit: limit) }
            }
        }
        return funnels
    }
}

extension Ledger.Funnels {
    fileprivate mutating func add(_ funnel: LedgerFunnel, limit: Int) {
        self.count += 1
        if self.busiest.count >= limit, let last = self.busiest.last, !funnel.precedes(last) {
            return
        }
        let place = self.busiest.firstIndex { funnel.precedes($0) } ?? self.busiest.endIndex
        self.busiest.insert(funnel, at: place)
        if self.busiest.count > limit { self.busiest.removeLast() }
    }
}
