// The steps of a push notification's way, counted twice: hits, and notifications.

/// A delivery's counts on one side of the line between iOS and the rest (D16, D20).
///
/// A hit is a fact that counts once; two buttons of one notification are two clicks (D17). The
/// unique counts are notifications: broadlog ids.
package struct FunnelCounts: Sendable, Equatable, Encodable {
    /// Notifications of which there is a hit of any kind.
    package var notifications = 0
    /// Impressions.
    package var impressions = 0
    /// Notifications with an impression.
    package var uniqueImpressions = 0
    /// Clicks: openings and dismissals alike (D14).
    package var clicks = 0
    /// Notifications with a click.
    package var uniqueClicks = 0
    /// Opens; Classic has none (D12).
    package var opens = 0
    /// Notifications with an open.
    package var uniqueOpens = 0

    /// Counts of nothing.
    package init() {}

    /// Notifications with an impression among all that are known: about 1, since an impression
    /// comes before anything else (D20). Nil without a notification.
    package var impressionRatio: Double? {
        Self.ratio(self.uniqueImpressions, of: self.notifications)
    }

    /// Notifications clicked, per notification with an impression; nil without an impression.
    package var clickRatio: Double? { Self.ratio(self.uniqueClicks, of: self.uniqueImpressions) }

    /// Notifications opened, per notification with an impression; nil without an impression.
    package var openRatio: Double? { Self.ratio(self.uniqueOpens, of: self.uniqueImpressions) }

    static func ratio(_ part: Int, of whole: Int) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}
