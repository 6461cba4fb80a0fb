/// A delivery's counts, either on iOS or on other platforms (D16, D20). docs/figures.md has the
/// formulas.
///
/// A hit counts once: two buttons of one notification are two clicks (D17). The unique counts are
/// of notifications, by broadlog id.
package struct FunnelCounts: Sendable, Equatable, Encodable {
    /// Notifications of which a device has reported a hit of any kind.
    package var notifications = 0
    /// Impressions, without those of payloads that show nothing.
    package var impressions = 0
    /// Notifications with an impression.
    package var uniqueImpressions = 0
    /// Clicks: openings and dismissals together (D14).
    package var clicks = 0
    /// Notifications with a click.
    package var uniqueClicks = 0
    /// Opens; Classic has none (D12).
    package var opens = 0
    /// Notifications with an open.
    package var uniqueOpens = 0
    /// Notifications that their sender tried to send: sent, failed, or both.
    package var attempted = 0
    /// Notifications that a push service took.
    package var sent = 0
    /// Notifications of which an attempt failed, whatever became of later ones.
    package var failed = 0
    /// Notifications that their sender skipped.
    package var skipped = 0
    /// Impressions of payloads that show nothing, which no other figure counts (D63).
    package var nothingShown = 0

    /// Clicks that opened nothing: dismissals (D14); nil for Classic, which reports none (D21).
    package private(set) var dismissals: Int?
    /// Notifications with a click and without an open; nil for Classic.
    package private(set) var uniqueDismissals: Int?

    /// Tells dismissals from openings, each of which gave a click and an open (D14).
    mutating func countDismissals() {
        self.dismissals = max(0, self.clicks - self.opens)
        self.uniqueDismissals = max(0, self.uniqueClicks - self.uniqueOpens)
    }

    /// Creates counts of zero.
    package init() {}

    /// Notifications with an impression, per notification: about 1, since an impression precedes
    /// every other hit (D20). Nil without notifications.
    package var impressionRatio: Double? {
        Self.ratio(self.uniqueImpressions, of: self.notifications)
    }

    /// Clicked notifications per notification with an impression; nil without impressions.
    package var clickRatio: Double? { Self.ratio(self.uniqueClicks, of: self.uniqueImpressions) }

    /// Opened notifications per notification with an impression; nil without impressions.
    package var openRatio: Double? { Self.ratio(self.uniqueOpens, of: self.uniqueImpressions) }

    /// Dismissed notifications per notification with an impression; nil without impressions, and
    /// for Classic.
    package var dismissalRatio: Double? {
        self.uniqueDismissals.flatMap { Self.ratio($0, of: self.uniqueImpressions) }
    }

    /// Impressions per notification that a push service took; nil without these.
    package var impressionsOfDelivered: Double? { Self.ratio(self.impressions, of: self.sent) }

    /// Notifications that their sender tried to send, and that no push service took.
    var undelivered: Int { self.attempted - self.sent }

    /// Whether a sender has reported anything.
    var hasSends: Bool { self.attempted + self.skipped > 0 }

    static func ratio(_ part: Int, of whole: Int) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}
