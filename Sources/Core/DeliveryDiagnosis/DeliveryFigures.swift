internal import TrackingRules

/// What was sent of a push delivery and what became of it, by its rows of the ledger.
/// docs/figures.md has the formulas.
package struct DeliveryFigures: Encodable, Sendable, Equatable {
    /// The hits on some platforms.
    package struct Counts: Encodable, Sendable, Equatable {
        /// Notifications that their sender tried to send: sent, failed, or both.
        package private(set) var attempted: UInt64 = 0
        /// Notifications that a push service took.
        package private(set) var sent: UInt64 = 0
        /// Notifications of which an attempt failed, whatever became of later ones.
        package private(set) var failed: UInt64 = 0
        /// Notifications that their sender skipped.
        package private(set) var skipped: UInt64 = 0
        /// Notifications that their sender tried to send, and that no push service took.
        package private(set) var undelivered: UInt64 = 0
        /// Impressions, without those of payloads that show nothing (D63).
        package private(set) var impressions: UInt64 = 0
        /// Clicks: openings and dismissals together (D14).
        package private(set) var clicks: UInt64 = 0
        /// Opens.
        package private(set) var opens: UInt64 = 0

        fileprivate mutating func add(_ hit: Substring, _ events: UInt64) {
            switch hit {
            case "sent": self.sent &+= events
            case "send_failed": self.failed &+= events
            case "send_skipped": self.skipped &+= events
            case "impression": self.impressions &+= events
            case "click": self.clicks &+= events
            case "open": self.opens &+= events
            default: break  // Campaign's own in-app messages are no part of these figures.
            }
        }

        /// Leaves out impressions that showed nothing, of which some may be older than the rows.
        fileprivate mutating func leaveOut(_ events: UInt64) {
            self.impressions -= min(self.impressions, events)
        }

        /// Counts the notifications that were tried.
        ///
        /// - Returns: what their sender has told.
        fileprivate mutating func countAttempts(sentAndFailed: UInt64) -> SendFacts {
            let facts = SendFacts(
                sent: self.sent, failed: self.failed, sentAndFailed: sentAndFailed)
            (self.attempted, self.undelivered) = (facts.attempted, facts.undelivered)
            return facts
        }
    }

    /// Those of Android, and of events without a platform.
    package private(set) var others = Counts()
    /// Those of iOS, which does not report every impression (D16).
    package private(set) var ios = Counts()
    /// Notifications that their sender tried to send, on all platforms; like the next four nil if
    /// it has reported nothing.
    package private(set) var attempted: UInt64?
    /// Notifications that a push service took, on all platforms.
    package private(set) var sent: UInt64?
    /// Notifications of which an attempt failed, on all platforms.
    package private(set) var failed: UInt64?
    /// Notifications that their sender skipped, on all platforms.
    package private(set) var skipped: UInt64?
    /// Notifications that were attempted, and that no push service took, on all platforms.
    package private(set) var undelivered: UInt64?
    /// Notifications that a push service took per attempted one, on all platforms; nil without
    /// these.
    package private(set) var deliveredRate: Double?
    /// Impressions per notification that a push service took, without iOS; nil without these.
    package private(set) var impressionsOfDelivered: Double?
    /// Opens per notification that a push service took, on all platforms; nil without these, and
    /// for Classic, which has no opens (D12).
    package private(set) var openRate: Double?
    /// Clicks per notification that a push service took, on all platforms; nil without these.
    package private(set) var clickThroughRate: Double?

    /// The figures of a delivery's rows; nil if none of them is of a push.
    init?(_ rows: [DeliveryAccountLine.Row]) {
        let pushes = rows.filter { !$0.delivery.isEmpty && $0.product != "firebase" }
        guard !pushes.isEmpty else { return nil }
        var isStandard = false
        for row in pushes where row.verdict == "accepted" {
            isStandard = isStandard || row.product == "standard"
            for hit in row.detail.split(separator: ",") {
                if row.platform == "ios" {
                    self.ios.add(hit, row.events)
                } else {
                    self.others.add(hit, row.events)
                }
            }
        }
        for row in pushes where row.isNothingShown {
            if row.platform == "ios" {
                self.ios.leaveOut(row.events)
            } else {
                self.others.leaveOut(row.events)
            }
        }
        func both(_ isIOS: Bool) -> UInt64 {
            pushes.reduce(0) { sum, row in
                let isCounted =
                    row.verdict == "sent_and_failed" && (row.platform == "ios") == isIOS
                return isCounted ? sum &+ row.events : sum
            }
        }
        let sends =
            self.others.countAttempts(sentAndFailed: both(false))
            + self.ios.countAttempts(sentAndFailed: both(true))
        let (sent, skipped) = (sends.sent, self.others.skipped &+ self.ios.skipped)
        if sent | sends.failed | skipped != 0 {
            (self.attempted, self.sent, self.failed) = (sends.attempted, sent, sends.failed)
            (self.skipped, self.undelivered) = (skipped, sends.undelivered)
        }
        self.deliveredRate = sends.deliveredRate
        self.impressionsOfDelivered = Self.ratio(self.others.impressions, of: self.others.sent)
        self.openRate =
            isStandard ? Self.ratio(self.others.opens &+ self.ios.opens, of: sent) : nil
        self.clickThroughRate = Self.ratio(self.others.clicks &+ self.ios.clicks, of: sent)
    }

    /// Whether a sender has reported anything.
    package var hasSends: Bool { self.attempted != nil }

    private static func ratio(_ part: UInt64, of whole: UInt64) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}

extension DeliveryAccountLine.Row {
    /// Whether it counts the warnings of impressions that other rows count as accepted.
    fileprivate var isNothingShown: Bool {
        self.verdict == "warning" && self.detail == "nothing_shown"
    }
}
