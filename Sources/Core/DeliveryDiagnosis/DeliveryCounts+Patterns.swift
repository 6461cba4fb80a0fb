// Findings that need many events. Each property is one pattern: its condition, threshold and
// sentence, or nil if the delivery does not show it.
internal import TrackingRules
internal import WireFormat

extension DeliveryCounts {
    /// The patterns that the counts show.
    var patterns: [DeliveryFinding] {
        [
            self.flagOff, self.testMessages, self.displaySuppressed, self.neverOpened,
            self.opensWithoutClicks, self.dismissalsAsOpens, self.repeatedReports,
            self.impressionsWhileClosed, self.linkContradictsIDs, self.placeholderIDs,
            self.clicksWithoutImpressions, self.idsNotHex, self.mediaNotShown, self.clockSkew,
        ].compactMap { $0 }
    }

    private static let few = DeliveryDiagnosis.fewReports

    /// Whether `part` is at least `percent` percent of `whole`.
    private static func isShare(_ part: UInt64, of whole: UInt64, percent: UInt64) -> Bool {
        part > 0 && part / percent * 100 + part % percent * 100 / percent >= whole
    }

    private func figures(_ figures: KeyValuePairs<String, UInt64>) -> [DeliveryFinding.Figure] {
        figures.map { .init(name: $0, value: $1) }
    }

    // MARK: Suppressed

    /// Threshold: one event, since the flag is the same for all of a delivery.
    private var flagOff: DeliveryFinding? {
        let count = self.refused(.suppressedFlagOff)
        guard count > 0 else { return nil }
        return self.finding(
            .flagOff, count, of: self.reports,
            "the flag was `off`, so nothing is tracked: tracking is switched off in the "
                + "delivery's settings, and the app is right")
    }

    /// Threshold: half of the events.
    private var testMessages: DeliveryFinding? {
        let count = self.refused(.suppressedTestMessage)
        guard Self.isShare(count, of: self.events, percent: 50) else { return nil }
        return self.finding(
            .testMessages, count,
            "test messages, which count only with rules.record_test_messages")
    }

    /// Threshold: half of the events.
    private var displaySuppressed: DeliveryFinding? {
        let count = self.refused(.suppressedDisplay)
        guard Self.isShare(count, of: self.events, percent: 50) else { return nil }
        return self.finding(
            .displaySuppressed, count,
            "the app suppressed the display, so nobody saw the message (messageDisplaySuppressed)")
    }

    // MARK: Reported interactions

    /// Threshold: 20 clicks and no open. Classic has no opens (D12).
    private var neverOpened: DeliveryFinding? {
        let clicks = self.reports(.click)
        guard self.product == .standard, clicks >= Self.few, self.reports(.open) == 0 else {
            return nil
        }
        let impressions = self.reports(.impression)
        return DeliveryFinding(
            code: .neverOpened,
            sentence: "\(clicks.grouped) clicks (2) and \(impressions.grouped) impressions (7) "
                + "\(self.place), and never an open (1): whoever opens a notification gives a 2 "
                + "and then a 1; the app sends the 2 alone",
            figures: self.figures(["clicks": clicks, "impressions": impressions, "opens": 0]))
    }

    /// Threshold: 20 opens and no click.
    private var opensWithoutClicks: DeliveryFinding? {
        let opens = self.reports(.open)
        guard opens >= Self.few, self.reports(.click) == 0 else { return nil }
        return DeliveryFinding(
            code: .opensWithoutClicks,
            sentence: "\(opens.grouped) opens (1) \(self.place), and never a click (2): whoever "
                + "opens a notification gives a 2 and then a 1; the app sends the 1 alone",
            figures: self.figures(["opens": opens, "clicks": 0]))
    }

    /// Threshold: at least 20 opens, of which a tenth have no click before them while others have
    /// one, or follow a dismissal.
    private var dismissalsAsOpens: DeliveryFinding? {
        let (opens, clicks) = (self.hits(.open), self.hits(.click))
        let alone = self.warned(.openWithoutClick)
        let late = self.warned(.openAfterDismiss)
        guard opens >= Self.few, clicks > 0,
            Self.isShare(alone, of: opens, percent: 10)
                || Self.isShare(late, of: opens, percent: 10)
        else { return nil }
        let count = max(alone, late)
        let what =
            alone >= late
            ? "have no click (2) before them, as others do" : "follow a dismissal"
        return DeliveryFinding(
            code: .dismissalsAsOpens,
            sentence: "\(count.grouped) of \(opens.grouped) opens (1) \(self.place) \(what): the "
                + "vendor's old sample sends a dismissal as action 1; send it as 2 alone",
            figures: self.figures(["opens_in_doubt": count, "opens": opens]))
    }

    /// Threshold: repeats of clicks and opens are half as many as the clicks and opens, and at
    /// least 20. Not where half of the duplicates have a placeholder as an id, which explains them.
    private var repeatedReports: DeliveryFinding? {
        let repeats = self.repeats(.click) + self.repeats(.open)
        let known = self.hits(.click) + self.hits(.open)
        guard repeats >= Self.few, Self.isShare(repeats, of: known, percent: 50),
            !Self.isShare(self.warned(.idPlaceholder), of: self.duplicates, percent: 50)
        else { return nil }
        let cause =
            self.platform == .ios
            ? "iOS may call back twice for one tap"
            : "the vendor's sample sends both again at every resume; let the activity forget its "
                + "intent's extras"
        return DeliveryFinding(
            code: .repeatedReports,
            sentence: "\(repeats.grouped) clicks and opens \(self.place) were repeats of "
                + "\(known.grouped) known ones, which count once: \(cause)",
            figures: self.figures(["repeats": repeats, "known": known]))
    }

    /// Threshold: one impression, since iOS does not run a closed app for it (D16).
    private var impressionsWhileClosed: DeliveryFinding? {
        let count = self.closedImpressions
        guard count > 0 else { return nil }
        let all = self.hits(.impression)
        return DeliveryFinding(
            code: .closedImpressions,
            sentence: "\(count.grouped) of \(all.grouped) impressions (7) \(self.place) came from "
                + "a closed app, which iOS does not run for them: the app reports them later, or "
                + "gives a wrong app_state",
            figures: self.figures(["closed_impressions": count, "impressions": all]))
    }

    /// Threshold: one event (D56).
    private var linkContradictsIDs: DeliveryFinding? {
        let count = self.warned(.linkContradictsIDs)
        guard count > 0 else { return nil }
        return self.finding(
            .linkContradictsIDs, count,
            "the tracked link in `uri` has other ids than _dId and _mId: the app joins fields of "
                + "two notifications")
    }

    /// Threshold: one event (D57).
    private var placeholderIDs: DeliveryFinding? {
        let count = self.warned(.idPlaceholder)
        guard count > 0 else { return nil }
        let key = self.product == .firebase ? "message_id" : "_dId"
        let which =
            self.delivery.withBytes(\.isPlaceholder)
            ? "\(key) is the placeholder `\(self.delivery)`"
            : "_mId is a placeholder such as `null`, `undefined` or `0`"
        return self.finding(
            .placeholderIDs, count,
            "\(which), which the app writes where it has no id: all that have it count as one, and "
                + "their events as repeats; send the payload's own id")
    }

    /// Threshold: 20 clicks on Android and no impression.
    private var clicksWithoutImpressions: DeliveryFinding? {
        let clicks = self.reports(.click)
        guard self.platform == .android, clicks >= Self.few, self.reports(.impression) == 0 else {
            return nil
        }
        return DeliveryFinding(
            code: .clicksWithoutImpressions,
            sentence: "\(clicks.grouped) clicks (2) \(self.place), and never an impression (7): "
                + "send a 7 from onMessageReceived, which runs for data messages only",
            figures: self.figures(["clicks": clicks, "impressions": 0]))
    }

    // MARK: Warnings

    /// Threshold: one event (D49).
    private var idsNotHex: DeliveryFinding? {
        let count = self.warned(.idNotHex)
        guard count > 0 else { return nil }
        return self.finding(
            .idsNotHex, count,
            "an id is not as Campaign Standard makes it: a hexadecimal _dId, and an _mId of `h` "
                + "and hexadecimal digits: see that `product` is right and that the ids are the "
                + "payload's own")
    }

    /// Threshold: one event.
    private var mediaNotShown: DeliveryFinding? {
        let count = self.warned(.mediaWithoutMutableContent)
        guard count > 0 else { return nil }
        return self.finding(
            .mediaNotShown, count,
            "media-attachment-url came without mutable-content, so iOS shows no media: switch "
                + "mutable content on in the delivery")
    }

    /// Threshold: a tenth of the accepted events.
    private var clockSkew: DeliveryFinding? {
        let count = self.warned(.clockSkew)
        guard Self.isShare(count, of: self.accepted, percent: 10) else { return nil }
        return self.finding(
            .clockSkew, count,
            "occur_time is over 5 minutes ahead of the server or 30 days behind: see that it is in "
                + "UTC, and not in milliseconds")
    }
}
