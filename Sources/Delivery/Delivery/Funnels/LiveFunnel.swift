internal import TrackingRules
internal import WireFormat

/// The counts of a Campaign delivery's hits. iOS is separate, because it does not report every
/// impression (D16, D20).
package struct LiveFunnel: Sendable, Equatable {
    /// Hits of one kind.
    package struct Count: Sendable, Equatable {
        /// From Android and other platforms.
        package var other = 0
        /// From iOS.
        package var ios = 0

        /// Both.
        package var sum: Int { self.other &+ self.ios }
    }

    /// The tenant that sent the hits.
    package let tenant: String
    /// deliveryId, or an in-app message's id.
    package let deliveryID: String
    /// Whether it is an in-app message.
    package let isInApp: Bool
    /// Impressions.
    package fileprivate(set) var impressions = Count()
    /// Clicks, including dismissals that count as clicks (D14).
    package fileprivate(set) var clicks = Count()
    /// Opens.
    package fileprivate(set) var opens = Count()
    /// Dismissals of an in-app message.
    package fileprivate(set) var dismissals = Count()
    /// Failed displays of an in-app message.
    package fileprivate(set) var displayErrors = Count()
    /// The clicks of an in-app message by action, on all platforms.
    package fileprivate(set) var actions = ClicksByAction()
    /// Notifications with a click, without iOS: two buttons of one are two clicks (D17).
    fileprivate var clicked = 0
    /// Notifications with an open, without iOS.
    fileprivate var opened = 0
    /// Hits of all kinds since the counter was taken.
    package fileprivate(set) var hits = 0
    /// An upper bound of the hits before the counter was taken; 0 if every hit is counted.
    package let missed: Int

    init(tenant: String, deliveryID: String, isInApp: Bool, missed: Int) {
        self.tenant = tenant
        self.deliveryID = deliveryID
        self.isInApp = isInApp
        self.missed = missed
    }

    /// The rank of the delivery: an upper bound of its hits.
    var weight: Int { self.hits &+ self.missed }

    mutating func count(_ kinds: HitKinds, isIOS: Bool) {
        self.hits &+= kinds.rawValue.nonzeroBitCount
        if self.isInApp {
            if kinds.holds(.inAppImpression) { self.impressions.add(isIOS) }
            if kinds.holds(.inAppClick) { self.clicks.add(isIOS) }
            if kinds.holds(.inAppDismissal) { self.dismissals.add(isIOS) }
            if kinds.holds(.inAppDisplayError) { self.displayErrors.add(isIOS) }
        } else {
            if kinds.holds(.impression) { self.impressions.add(isIOS) }
            if kinds.holds(.click) { self.clicks.add(isIOS) }
            if kinds.holds(.open) { self.opens.add(isIOS) }
        }
    }

    mutating func count(firsts kinds: HitKinds) {
        if kinds.holds(.click) { self.clicked &+= 1 }
        if kinds.holds(.open) { self.opened &+= 1 }
    }

    mutating func count(action: Bytes) { self.actions.count(action) }

    // MARK: Ratios, as in reports and in the view `funnel` of hits.db

    /// Clicked notifications per impression, without iOS (D20); of an in-app message, clicks per
    /// impression on all platforms. Nil without impressions.
    package var clickRatio: Double? {
        self.isInApp
            ? Self.ratio(self.clicks.sum, of: self.impressions.sum)
            : Self.ratio(self.clicked, of: self.impressions.other)
    }

    /// Opened notifications per impression, without iOS; nil without impressions, and for an
    /// in-app message, which has no opens.
    package var openRatio: Double? {
        self.isInApp ? nil : Self.ratio(self.opened, of: self.impressions.other)
    }

    /// Dismissals of an in-app message per impression; nil without impressions.
    package var dismissalRatio: Double? {
        self.isInApp ? Self.ratio(self.dismissals.sum, of: self.impressions.sum) : nil
    }

    private static func ratio(_ part: Int, of whole: Int) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}

extension HitKinds {
    func holds(_ kind: HitKind) -> Bool {
        self.rawValue & (1 << UInt16(kind.rawValue)) != 0
    }
}

extension LiveFunnel.Count {
    fileprivate mutating func add(_ isIOS: Bool) {
        if isIOS { self.ios &+= 1 } else { self.other &+= 1 }
    }
}
