// A Campaign delivery's row in a report.
package import TrackingCore

/// The funnel of one delivery of one product.
package struct DeliveryFunnel: Sendable, Equatable {
    /// Whose it is.
    package var tenant: String
    /// The app, where the report has a row per app and the hits name one.
    package var app: String?
    /// Campaign Standard or Classic: the two give the same keys other meanings (D12).
    package var product: Product
    /// deliveryId.
    package var deliveryID: String
    /// Android, and what names no platform: what the ratios are made of (D20).
    package var others = FunnelCounts()
    /// iOS, which does not report every impression (D16).
    package var ios = FunnelCounts()
    /// Clicks on the first button of a Campaign in-app message (D9).
    package var button1 = 0
    /// Clicks on its second button.
    package var button2 = 0
    /// Such messages closed.
    package var closes = 0
    /// When the first of its hits was received, in microseconds since 1970.
    package var firstReceived: Int64 = 0
    /// When the last of its hits was received, in microseconds since 1970.
    package var lastReceived: Int64 = 0

    /// The ratio of notifications opened; nil for Classic, which counts none (D12, D21).
    package var openRatio: Double? {
        self.product == .standard ? self.others.openRatio : nil
    }

    /// Opens outside of iOS; nil for Classic.
    package var opens: Int? { self.product == .standard ? self.others.opens : nil }

    /// Opens on iOS; nil for Classic.
    package var iosOpens: Int? { self.product == .standard ? self.ios.opens : nil }
}

extension DeliveryFunnel: Encodable {
    private enum CodingKeys: CodingKey {
        case tenant, app, product, deliveryID, others, ios, impressionRatio, clickRatio, openRatio
        case button1, button2, closes, firstReceived, lastReceived
    }

    /// Writes a row; a ratio that there is none of is null.
    package func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: CodingKeys.self)
        try row.encode(self.tenant, forKey: .tenant)
        try row.encodeIfPresent(self.app, forKey: .app)
        try row.encode("\(self.product)", forKey: .product)
        try row.encode(self.deliveryID, forKey: .deliveryID)
        try row.encode(self.others, forKey: .others)
        try row.encode(self.ios, forKey: .ios)
        try row.encode(
            self.others.impressionRatio.map(ReportNumber.rounded), forKey: .impressionRatio)
        try row.encode(self.others.clickRatio.map(ReportNumber.rounded), forKey: .clickRatio)
        try row.encode(self.openRatio.map(ReportNumber.rounded), forKey: .openRatio)
        try row.encode(self.button1, forKey: .button1)
        try row.encode(self.button2, forKey: .button2)
        try row.encode(self.closes, forKey: .closes)
        try row.encode(ReportTime.utc(self.firstReceived), forKey: .firstReceived)
        try row.encode(ReportTime.utc(self.lastReceived), forKey: .lastReceived)
    }
}
