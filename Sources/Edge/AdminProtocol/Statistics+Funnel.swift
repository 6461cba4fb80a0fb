extension Statistics {
    /// The hits of one delivery, from the ledger. iOS is counted separately (D16, D20).
    package struct Funnel: Codable, Sendable, Equatable {
        /// The tenant that sent the hits.
        package var tenant: String
        /// deliveryId, or an in-app message's id.
        package var deliveryId: String
        /// Whether it is an in-app message.
        package var isInApp: Bool
        /// The name that was put; nil if there is none.
        package var name: String?
        /// Impressions from platforms other than iOS.
        package var impressions = 0
        /// Impressions from iOS.
        package var impressionsIos = 0
        /// Clicks from platforms other than iOS: openings and dismissals together (D14).
        package var clicks = 0
        /// Clicks from iOS.
        package var clicksIos = 0
        /// Opens from platforms other than iOS.
        package var opens = 0
        /// Opens from iOS.
        package var opensIos = 0
        /// Dismissals of an in-app message, on all platforms; of a push notification the clicks
        /// that opened nothing, on platforms other than iOS (none with Campaign Classic).
        package var dismissals = 0
        /// Dismissals of a push notification on iOS; 0 for an in-app message.
        package var dismissalsIos = 0
        /// Failed displays of an in-app message, on all platforms.
        package var displayErrors = 0
        /// Triggers of an in-app message, on all platforms; like the next two nil from a server
        /// that does not count them.
        package var triggered: Int?
        /// Triggers of an in-app message while the app suppressed display, on all platforms.
        package var suppressed: Int?
        /// Impressions of payloads that show nothing, on all platforms: no other figure has them.
        package var nothingShown: Int?
        /// Clicks per impression without iOS; of an in-app message, on all platforms. Nil without
        /// impressions.
        package var clickRatio: Double?
        /// Opens per impression without iOS; nil without impressions and for an in-app message.
        package var openRatio: Double?

        /// Push notifications that their sender tried to send, on all platforms; like the next five
        /// nil if it has reported nothing (docs/figures.md).
        package var attempted: Int?
        /// Push notifications that a push service took, on platforms other than iOS.
        package var sent: Int?
        /// Push notifications that a push service took, on iOS.
        package var sentIos: Int?
        /// Push notifications of which an attempt failed, on all platforms.
        package var failed: Int?
        /// Push notifications that their sender skipped, on all platforms.
        package var skipped: Int?
        /// Push notifications that their sender tried to send, and that no push service took, on
        /// all platforms.
        package var undelivered: Int?
        /// Notifications that a push service took per attempted one, on all platforms; nil without
        /// these.
        package var deliveredRate: Double?
        /// The notifications of which an attempt failed, by the reasons as docs/sends.md names
        /// them, the most frequent first; nil without failures.
        package var failedFor: [ReasonCount]?
        /// The versions of its apps, those that differ first; nil if none differs.
        package var versions: [Version]?
        /// Opens per notification that a push service took, on all platforms; nil without these,
        /// and for Classic.
        package var openRate: Double?
        /// Clicks per notification that a push service took, on all platforms; nil without these.
        package var clickThroughRate: Double?

        /// The funnel of a delivery without any hit.
        package init(tenant: String, deliveryId: String, isInApp: Bool) {
            self.tenant = tenant
            self.deliveryId = deliveryId
            self.isInApp = isInApp
        }
    }
}
