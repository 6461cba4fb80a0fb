// What became of one delivery's messages, as far as its hits have passed.
internal import TrackingCore

/// Counts of a delivery's hits, those of iOS apart: it does not report every impression (D16, D20).
package struct LiveFunnel: Sendable, Equatable {
    /// Hits of one kind.
    package struct Count: Sendable, Equatable {
        /// From all platforms but iOS.
        package var other = 0
        /// From iOS.
        package var ios = 0
    }

    /// Who sent the hits.
    package let tenant: String
    /// deliveryId, or an in-app message's id.
    package let deliveryID: String
    /// Whether it is an in-app message.
    package let isInApp: Bool
    /// The message was seen.
    package fileprivate(set) var impressions = Count()
    /// It was clicked, or dismissed where that counts as a click (D14).
    package fileprivate(set) var clicks = Count()
    /// It was opened.
    package fileprivate(set) var opens = Count()
    /// Hits of all kinds.
    package fileprivate(set) var hits = 0
    /// Hits that may have passed before it was counted, at most: 0 where all are in the counts.
    package let missed: Int

    init(tenant: String, deliveryID: String, isInApp: Bool, missed: Int) {
        self.tenant = tenant
        self.deliveryID = deliveryID
        self.isInApp = isInApp
        self.missed = missed
    }

    /// The hits by which deliveries are ranked: no fewer than there were.
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
