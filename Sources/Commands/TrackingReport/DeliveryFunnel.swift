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
    /// The number of recipients that it was delivered to, if known.
    package var delivered: Int?
    /// Counts of Android and of events without a platform; the ratios use these (D20).
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

    /// Notifications with a hit of any kind, per recipient that the delivery reached; nil if that
    /// number is unknown.
    package var reachRatio: Double? {
        self.delivered.flatMap {
            FunnelCounts.ratio(self.others.notifications + self.ios.notifications, of: $0)
        }
    }

    /// Opens on platforms other than iOS; nil for Classic.
    package var opens: Int? { self.product == .standard ? self.others.opens : nil }

    /// Opens on iOS; nil for Classic.
    package var iosOpens: Int? { self.product == .standard ? self.ios.opens : nil }
}

extension DeliveryFunnel: Encodable {
    private enum CodingKeys: CodingKey {
        case tenant, app, product, deliveryID, name, delivered, reachRatio, others, ios,
            impressionRatio, clickRatio, dismissalRatio, openRatio
        case button1, button2, closes, firstReceived, lastReceived
    }

    /// Encodes a row; missing ratios are null.
    package func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: CodingKeys.self)
        try row.encode(self.tenant.isEmpty ? nil : self.tenant, forKey: .tenant)
        try row.encodeIfPresent(self.app, forKey: .app)
        try row.encode(self.product?.name, forKey: .product)
        try row.encode(self.deliveryID, forKey: .deliveryID)
        try row.encodeIfPresent(self.name, forKey: .name)
        try row.encodeIfPresent(self.delivered, forKey: .delivered)
        try row.encodeIfPresent(self.reachRatio.map(ReportNumber.rounded), forKey: .reachRatio)
        try row.encode(self.others, forKey: .others)
        try row.encode(self.ios, forKey: .ios)
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
}
