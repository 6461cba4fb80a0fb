/// The funnel of a Firebase in-app message (D24): a row of the report.
package struct InAppFunnel: Sendable, Equatable {
    /// The tenant.
    package var tenant: String
    /// The app's id, if the report is by app and the hits have one.
    package var app: String?
    /// The campaign's message id.
    package var messageID: String
    /// The campaign's name according to the newest hit; nil if it has none.
    package var campaign: String?
    /// The number of distinct recipients in its hits.
    package var recipients = 0
    /// Impressions.
    package var impressions = 0
    /// Clicks on an action.
    package var clicks = 0
    /// Dismissals, including clicks without a URL (D25).
    package var dismissals = 0
    /// Failed displays.
    package var displayErrors = 0
    /// Triggers that an app reported, whether or not the message was shown.
    package var triggered = 0
    /// Triggers while the app suppressed display, by which the message was dropped.
    package var suppressed = 0
    /// When the first of its hits was received, in microseconds since 1970.
    package var firstReceived: Int64 = 0
    /// When the last of its hits was received, in microseconds since 1970.
    package var lastReceived: Int64 = 0

    /// Clicks per impression; nil without an impression.
    package var clickRatio: Double? { FunnelCounts.ratio(self.clicks, of: self.impressions) }

    /// Dismissals per impression; nil without an impression.
    package var dismissalRatio: Double? {
        FunnelCounts.ratio(self.dismissals, of: self.impressions)
    }
}

extension InAppFunnel: Encodable {
    private enum CodingKeys: CodingKey {
        case tenant, app, messageID, campaign, recipients, impressions, clicks, dismissals
        case displayErrors, triggered, suppressed, clickRatio, dismissalRatio
        case firstReceived, lastReceived
    }

    /// Encodes a row; missing ratios are null.
    package func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: CodingKeys.self)
        try row.encode(self.tenant, forKey: .tenant)
        try row.encodeIfPresent(self.app, forKey: .app)
        try row.encode(self.messageID, forKey: .messageID)
        try row.encodeIfPresent(self.campaign, forKey: .campaign)
        try row.encode(self.recipients, forKey: .recipients)
        try row.encode(self.impressions, forKey: .impressions)
        try row.encode(self.clicks, forKey: .clicks)
        try row.encode(self.dismissals, forKey: .dismissals)
        try row.encode(self.displayErrors, forKey: .displayErrors)
        try row.encode(self.triggered, forKey: .triggered)
        try row.encode(self.suppressed, forKey: .suppressed)
        try row.encode(self.clickRatio.map(ReportNumber.rounded), forKey: .clickRatio)
        try row.encode(self.dismissalRatio.map(ReportNumber.rounded), forKey: .dismissalRatio)
        try row.encode(ReportTime.utc(self.firstReceived), forKey: .firstReceived)
        try row.encode(ReportTime.utc(self.lastReceived), forKey: .lastReceived)
    }
}
