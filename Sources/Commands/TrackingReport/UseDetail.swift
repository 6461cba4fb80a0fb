internal import TrackingRules
internal import WireFormat

/// What recipients did with a push notification or an in-app message, and how: a row of the
/// report's details.
package struct UseDetail: Sendable, Equatable {
    /// What happened, and how; equal uses share a row.
    package struct Use: Sendable, Encodable {
        /// `impression`, `click`, `open`, `dismissal`, `display_error`, `triggered`, `suppressed`,
        /// or a button of Campaign.
        package var what: String
        /// The label of the chosen button, or of a push notification the button's id; empty if it
        /// has none.
        package var action = ""
        /// The link of the chosen action, which tells a card's buttons apart, or of the push
        /// notification; empty if it has none. A tracked link has `*` for the recipient's digits.
        package var link = ""
        /// The letter and the own id of a push notification's tracked link, such as `d:d57ff6`;
        /// empty if its link is not tracked.
        package var linkID = ""
        /// How it was closed: `auto`, `click` or `swipe`; empty if unknown.
        package var dismissal = ""
        /// Why it was not shown: `image_fetch`, `image_display` or `image_format`, or of a message
        /// that was not fetched `fetch_server`, `fetch_client` or `fetch_network`; empty if
        /// unknown.
        package var error = ""
        /// The analytics event that triggered the message; empty if unknown.
        package var trigger = ""
        /// What triggered it: `analytics_event`, `foreground` or `app`; empty if unknown.
        package var triggerKind = ""
        /// `card`, `modal`, `banner` or `image`; empty if unknown.
        package var layout = ""
        /// How its event reached the server: `api` or `postback`.
        package var source = EventSource.api.name
    }

    /// The tenant.
    package var tenant: String
    /// The message's id, or the delivery's.
    package var id: String
    /// Whether it is a delivery of push notifications.
    package var isPush: Bool
    /// What happened, and how; nil for the sum of all uses beyond the limit.
    package var use: Use?
    /// The hits.
    package var hits: Int
}

extension UseDetail: Encodable {
    private enum CodingKeys: CodingKey {
        case tenant, messageID, deliveryID, use, hits
    }

    /// Encodes a row; the id is `delivery_id` or `message_id`.
    package func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: CodingKeys.self)
        try row.encode(self.tenant, forKey: .tenant)
        try row.encode(self.id, forKey: self.isPush ? .deliveryID : .messageID)
        try row.encodeIfPresent(self.use, forKey: .use)
        try row.encode(self.hits, forKey: .hits)
    }
}

// Clients choose the texts of a use: they are told apart by their bytes, as in hits.db.
extension UseDetail.Use: Hashable {
    /// Whether both are the same use. The link tells its id.
    package static func == (left: Self, right: Self) -> Bool {
        left.what == right.what && left.dismissal == right.dismissal && left.error == right.error
            && left.action.equals(right.action) && left.link.equals(right.link)
            && left.trigger.equals(right.trigger) && left.triggerKind == right.triggerKind
            && left.layout == right.layout && left.source == right.source
    }

    /// Hashes all texts.
    package func hash(into hasher: inout Hasher) {
        for text in [
            self.what, self.action, self.link, self.dismissal, self.error, self.trigger,
            self.triggerKind, self.layout, self.source,
        ] {
            hasher.combine(ExactText(text))
        }
    }
}
