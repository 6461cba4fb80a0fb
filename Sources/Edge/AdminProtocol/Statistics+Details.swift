extension Statistics {
    /// The counts of a version of an app.
    package struct Version: Codable, Sendable, Equatable {
        /// The version, as events have it.
        package var version: String
        /// The platform's name; empty if the events named none.
        package var platform: String
        /// Whether it differs from the others on its platform (docs/why.md).
        package var differs: Bool
        /// Notifications that a push service took.
        package var sent: Int
        /// What devices reported.
        package var reports: Int
        /// Reports that were suppressed or rejected.
        package var refused: Int
        /// Impressions.
        package var impressions: Int
        /// Clicks.
        package var clicks: Int
        /// Opens.
        package var opens: Int

        /// Creates counts from their parts.
        package init(
            version: String, platform: String, differs: Bool, sent: Int, reports: Int,
            refused: Int, impressions: Int, clicks: Int, opens: Int
        ) {
            self.version = version
            self.platform = platform
            self.differs = differs
            self.sent = sent
            self.reports = reports
            self.refused = refused
            self.impressions = impressions
            self.clicks = clicks
            self.opens = opens
        }
    }

    /// A delivery of which only totals are known, as somebody put them (docs/deliveries.md).
    package struct Totals: Codable, Sendable, Equatable {
        /// The tenant that put them.
        package var tenant: String
        /// The delivery's id.
        package var deliveryId: String
        /// Its name; nil if none was put.
        package var name: String?
        /// Messages that somebody tried to send, on all platforms; like the next two nil if that
        /// was not put.
        package var sent: Int?
        /// Messages that a push service took.
        package var delivered: Int?
        /// Messages that it did not take.
        package var failed: Int?

        /// Creates totals from their parts.
        package init(
            tenant: String, deliveryId: String, name: String?, sent: Int?, delivered: Int?,
            failed: Int?
        ) {
            self.tenant = tenant
            self.deliveryId = deliveryId
            self.name = name
            self.sent = sent
            self.delivered = delivered
            self.failed = failed
        }
    }
}
