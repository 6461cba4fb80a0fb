extension Statistics {
    /// The hits of one delivery since its counter was taken; iOS is separate (D16, D20).
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
        /// An in-app message's clicks by the label of the button; those of further labels together
        /// under `null`.
        package var actions: [Action] = []
        /// Clicked notifications per impression without iOS; of an in-app message, clicks per
        /// impression. Nil without impressions.
        package var clickRatio: Double?
        /// Opened notifications per impression without iOS; nil for an in-app message.
        package var openRatio: Double?
        /// An upper bound of the hits before the counter was taken.
        package var missed: Int
    }

    /// The clicks on a button.
    package struct Action: Codable, Sendable, Equatable {
        /// The button's label; empty if it has none, nil for all further labels.
        package var label: String?
        /// The clicks.
        package var clicks: Int
    }
}
