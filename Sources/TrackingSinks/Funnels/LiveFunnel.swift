internal import TrackingCore

/// The counts of a Campaign delivery's hits. iOS is separate, because it does not report every
/// impression (D16, D20).
package struct LiveFunnel: Sendable, Equatable {
    /// Hits of one kind.
    package struct Count: Sendable, Equatable {
        /// From Android and other platforms.
        package var other = 0
        /// From iOS.
        package var ios = 0
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
        if kinds.holds(.impression) || kinds.holds(.inAppImpression) { self.impressions.add(isIOS) }
        if kinds.holds(.click) || kinds.holds(.inAppClick) { self.clicks.add(isIOS) }
        if kinds.holds(.open) { self.opens.add(isIOS) }
    }
}

extension HitKinds {
    fileprivate func holds(_ kind: HitKind) -> Bool {
        self.rawValue & (1 << UInt16(kind.rawValue)) != 0
    }
}

extension LiveFunnel.Count {
    fileprivate mutating func add(_ isIOS: Bool) {
        if isIOS { self.ios &+= 1 } else { self.other &+= 1 }
    }
}
