extension Statistics {
    /// The hits of one delivery, from the ledger. iOS is counted separately (D16, D20).
    package struct Funnel: Codable, Sendable, Equatable {
        /// The tenant that sent the hits.
        package var tenant: String
        /// deliveryId, or an in-app message's id.
        package var deliveryId: String
        /// Whether it is an in-app message.
        package var isInApp: Bool
        /// Impressions from platforms other than iOS.
        package var impressions: Int
        /// Impressions from iOS.
        package var impressionsIos: Int
        /// Clicks from platforms other than iOS.
        package var clicks: Int
        /// Clicks from iOS.
        package var clicksIos: Int
        /// Opens from platforms other than iOS.
        package var opens: Int
        /// Opens from iOS.
        package var opensIos: Int
        /// Dismissals of an in-app message, on all platforms.
        package var dismissals = 0
        /// Failed displays of an in-app message, on all platforms.
        package var displayErrors = 0
        /// Clicks per impression without iOS; of an in-app message, on all platforms. Nil without
        /// impressions.
        package var clickRatio: Double?
        /// Opens per impression without iOS; nil without impressions and for an in-app message.
        package var openRatio: Double?
    }
}
