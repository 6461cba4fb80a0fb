internal import WireFormat

/// What recipients did with an in-app message, and how: a row of the report's details.
package struct InAppDetail: Sendable, Equatable, Encodable {
    /// What happened, and how; equal uses share a row.
    package struct Use: Sendable, Encodable {
        /// `impression`, `click`, `dismissal` or `display_error`.
        package var what: String
        /// The label of the chosen button; empty if it has none.
        package var action = ""
        /// The link of the chosen action, which tells a card's buttons apart; empty if it has none.
        package var link = ""
        /// How it was closed: `auto`, `click` or `swipe`; empty if unknown.
        package var dismissal = ""
        /// Why it was not shown: `image_fetch`, `image_display` or `image_format`; empty if
        /// unknown.
        package var error = ""
        /// The analytics event that triggered the message; empty if unknown.
        package var trigger = ""
    }

    /// The tenant.
    package var tenant: String
    /// The message's id.
    package var messageID: String
    /// What happened, and how; nil for the sum of all uses beyond the limit.
    package var use: Use?
    /// The hits.
    package var hits: Int
}

// Clients choose the texts of a use: they are told apart by their bytes, as in hits.db.
extension InAppDetail.Use: Hashable {
    /// Whether both are the same use.
    package static func == (left: Self, right: Self) -> Bool {
        left.what == right.what && left.dismissal == right.dismissal && left.error == right.error
            && left.action.equals(right.action) && left.link.equals(right.link)
            && left.trigger.equals(right.trigger)
    }

    /// Hashes all texts.
    package func hash(into hasher: inout Hasher) {
        for text in [self.what, self.action, self.link, self.dismissal, self.error, self.trigger] {
            hasher.combine(ExactText(text))
        }
    }
}
