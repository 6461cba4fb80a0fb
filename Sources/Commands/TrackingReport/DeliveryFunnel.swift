package import TrackingRules

/// The funnel of one delivery of one product: a row of the report.
package struct DeliveryFunnel: Sendable, Equatable {
    /// The tenant; empty for a delivery without a hit, unless the report is of one tenant.
    package var tenant: String
    /// The app's id, if the report is by app and the hits have one.
    package var app: String?
    /// Campaign Standard or Classic, which reuse the same keys with other meanings (D12); nil for a
    /// delivery without a hit.
    package var product: Product?
    /// deliveryId.
    package var deliveryID: String
    /// Its name, if the report has names.
    package var name: String?
    /// The number of recipients that it was delivered to according to a file; nil if it has none.
    package var deliveredTotal: Int?
    /// Counts of Android and of events without a platform; the ratios per notification shown use
    /// these alone (D20).
    package var others = FunnelCounts()
    /// Counts of iOS, which does not report every impression (D16).
    package var ios = FunnelCounts()
    /// Clicks on the first button of a Campaign in-app message (D9).
    package var button1 = 0
    /// Clicks on its second button.
    package var button2 = 0
    /// Campaign in-app messages that were closed.
    package var closes = 0
    /// When the first of its hits was received, in microseconds since 1970; nil without a hit.
    package var firstReceived: Int64?
    /// When the last of its hits was received, in microseconds since 1970; nil without a hit.
    package var lastReceived: Int64?

    /// Opened notifications per notification with an impression; nil for Classic, which has no
    /// opens (D12, D21).
    package var openRatio: Double? {
        self.product == .standard ? self.others.openRatio : nil
    }

    /// The notifications that a push service took, as its sender has reported it, or else the
    /// number in a file; nil if neither is known.
    package var delivered: Int? { self.sent ?? self.deliveredTotal }

    /// The notifications that its sender tried to send; nil if it has reported nothing.
    package var attempted: Int? { self.ofSends(\.attempted) }

    /// The notifications that a push service took; nil if its sender has reported nothing.
    package var sent: Int? { self.ofSends(\.sent) }

    /// The notifications of which an attempt failed; nil if its sender has reported nothing.
    package var failed: Int? { self.ofSends(\.failed) }

    /// The notifications that its sender skipped; nil if it has reported nothing.
    package var skipped: Int? { self.ofSends(\.skipped) }

    /// The attempted notifications that no push service took; nil if its sender has reported
    /// nothing.
    package var undelivered: Int? { self.ofSends(\.undelivered) }

    /// Delivered notifications per attempted one, on all platforms; nil without attempts.
    package var deliveredRate: Double? {
        guard let sent, let attempted else { return nil }
        return FunnelCounts.ratio(sent, of: attempted)
    }

    /// Opens per delivered notification, on all platforms; nil for Classic, and if no delivered
    /// notification is known.
    package var openRate: Double? {
        self.product == .standard ? self.ofDelivered(self.others.opens + self.ios.opens) : nil
    }

    /// Clicks per delivered notification, on all platforms: openings and dismissals together
    /// (D14). Nil if no delivered notification is known.
    package var clickThroughRate: Double? {
        self.ofDelivered(self.others.clicks + self.ios.clicks)
    }

    /// Notifications of which a device has reported a hit of any kind, per delivered one; nil if no
    /// delivered notification is known.
    package var reachRatio: Double? {
        self.ofDelivered(self.others.notifications + self.ios.notifications)
    }

    private func ofDelivered(_ count: Int) -> Double? {
        self.delivered.flatMap { FunnelCounts.ratio(count, of: $0) }
    }

    /// A count of all platforms; nil if the sender has reported nothing.
    private func ofSends(_ count: (FunnelCounts) -> Int) -> Int? {
        guard self.others.hasSends || self.ios.hasSends else { return nil }
        return count(self.others) + count(self.ios)
    }

    /// Opens on platforms other than iOS; nil for Classic.
    package var opens: Int? { self.product == .standard ? self.others.opens : nil }

    /// Opens on iOS; nil for Classic.
    package var iosOpens: Int? { self.product == .standard ? self.ios.opens : nil }
}

extension DeliveryFunnel: Encodable {
    private enum CodingKeys: CodingKey {
        case tenant, app, product, deliveryID, name, others, ios
        case attempted, sent, failed, skipped, undelivered, delivered
        case deliveredRate, impressionsOfDelivered, iosImpressionsOfDelivered
        case openRate, clickThroughRate
        case reachRatio, impressionRatio, clickRatio, dismissalRatio, openRatio
        case button1, button2, closes, firstReceived, lastReceived
    }

    /// Encodes a row; figures that are not known are null, but for the name and the app.
    package func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: CodingKeys.self)
        try row.encode(self.tenant.isEmpty ? nil : self.tenant, forKey: .tenant)
        try row.encodeIfPresent(self.app, forKey: .app)
        try row.encode(self.product?.name, forKey: .product)
        try row.encode(self.deliveryID, forKey: .deliveryID)
        try row.encodeIfPresent(self.name, forKey: .name)
        try row.encode(self.others, forKey: .others)
        try row.encode(self.ios, forKey: .ios)
        try self.encodeSends(to: &row)
        try row.encode(
            self.others.impressionRatio.map(ReportNumber.rounded), forKey: .impressionRatio)
        try row.encode(self.others.clickRatio.map(ReportNumber.rounded), forKey: .clickRatio)
        try row.encode(
            self.others.dismissalRatio.map(ReportNumber.rounded), forKey: .dismissalRatio)
        try row.encode(self.openRatio.map(ReportNumber.rounded), forKey: .openRatio)
        try row.encode(self.button1, forKey: .button1)
        try row.encode(self.button2, forKey: .button2)
        try row.encode(self.closes, forKey: .closes)
        try row.encode(self.firstReceived.map(ReportTime.utc), forKey: .firstReceived)
        try row.encode(self.lastReceived.map(ReportTime.utc), forKey: .lastReceived)
    }

    /// Encodes what was sent, and the rates per delivered notification.
    private func encodeSends(to row: inout KeyedEncodingContainer<CodingKeys>) throws {
        let counts: [(CodingKeys, Int?)] = [
            (.attempted, self.attempted), (.sent, self.sent), (.failed, self.failed),
            (.skipped, self.skipped), (.undelivered, self.undelivered),
            (.delivered, self.delivered),
        ]
        for (key, count) in counts { try row.encode(count, forKey: key) }
        let rates: [(CodingKeys, Double?)] = [
            (.deliveredRate, self.deliveredRate),
            (.impressionsOfDelivered, self.others.impressionsOfDelivered),
            (.iosImpressionsOfDelivered, self.ios.impressionsOfDelivered),
            (.openRate, self.openRate), (.clickThroughRate, self.clickThroughRate),
            (.reachRatio, self.reachRatio),
        ]
        for (key, rate) in rates {
            try row.encode(rate.map(ReportNumber.rounded), forKey: key)
        }
    }
}
