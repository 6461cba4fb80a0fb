// Findings that only both sides show: what a sender sent, and what devices reported. Each has its
// condition, threshold and sentence; or nil if the delivery does not show it.
internal import TrackingRules
internal import WireFormat

extension DeliveryCounts {
    private static let few = DeliveryDiagnosis.fewReports
    private static let fewSends = DeliveryDiagnosis.fewSends
    private static let hours = DeliveryDiagnosis.settlingHours

    /// The findings on one platform.
    ///
    /// - Parameters:
    ///   - isSent: whether the delivery has sends, on any platform.
    ///   - isReported: whether anything was reported of it, on any platform.
    ///   - before: the same counts of the delivery before it; nil if there is none.
    func sendFindings(
        isSent: Bool, isReported: Bool, before: DeliveryCounts?
    ) -> [DeliveryFinding] {
        let single = [
            isReported ? self.impressionsMissing : nil, self.moreImpressionsThanSent,
            self.tokensUnregistered, isSent ? self.sentWithoutFlag : nil,
        ].compactMap { $0 }
        let grown = before.map { self.reasonsThatGrew(since: $0) } ?? []
        return single + self.versionsWithoutReports + grown
    }

    /// Whether `part` is at least `percent` percent of `whole`.
    private static func isShare(_ part: UInt64, of whole: UInt64, percent: Double) -> Bool {
        Double(part) * 100 >= Double(whole) * percent
    }

    private static func finding(
        _ code: DeliveryFinding.Code, _ sentence: String,
        _ figures: KeyValuePairs<String, UInt64>
    ) -> DeliveryFinding {
        DeliveryFinding(
            code: code, sentence: sentence, figures: figures.map { .init(name: $0, value: $1) })
    }

    // MARK: Impressions

    /// Threshold: 100 that the app could see, sent 6 hours ago or earlier, and impressions of less
    /// than half of them. Not where there is none beside 20 clicks, which has a finding of its own.
    private var impressionsMissing: DeliveryFinding? {
        let silent = self.displays[.silent] ?? 0
        let sends = self.settledSends - min(self.settledSends, silent)
        let impressions = self.hits(.impression) + self.unplaced.impressions
        let isOtherFinding = self.reports(.impression) == 0 && self.reports(.click) >= Self.few
        guard self.platform == .android, sends >= Self.fewSends, !isOtherFinding,
            !Self.isShare(impressions, of: sends, percent: 50)
        else { return nil }
        return Self.finding(
            .impressionsMissing,
            "\(impressions.grouped) impressions (7) of \(sends.grouped) that were sent "
                + "\(self.place) \(Self.hours) hours ago or earlier: \(self.display(of: sends))",
            ["missing": sends - impressions, "impressions": impressions, "sent": sends])
    }

    /// Who shows most of what was sent, and what follows from it.
    private func display(of sends: UInt64) -> String {
        let (system, app) = (self.displays[.system] ?? 0, self.displays[.app] ?? 0)
        if Self.isShare(system, of: sends, percent: 50) {
            return "\(system.grouped) were shown by the system, and then the app's code never "
                + "runs: send data messages, and let the app show them"
        }
        if Self.isShare(app, of: sends, percent: 50) {
            return "\(app.grouped) were for the app to show, so it has to report each: send a 7 "
                + "from onMessageReceived"
        }
        return "what the system shows never reaches the app's code: send data messages, and say in "
            + "`display` who shows them"
    }

    /// Threshold: 20 impressions more than what was sent, and a twentieth; impressions of the last
    /// 6 hours do not count, for sends may be told later.
    private var moreImpressionsThanSent: DeliveryFinding? {
        let sends = self.hits(.sent) + self.unplaced.sends
        let impressions = self.settledImpressions
        guard self.platform != nil, self.hits(.sent) >= Self.few, impressions > sends,
            impressions - sends >= Self.few,
            Self.isShare(impressions - sends, of: sends, percent: 5)
        else { return nil }
        return Self.finding(
            .moreImpressionsThanSent,
            "\(impressions.grouped) impressions (7) \(self.place), and \(sends.grouped) were sent: "
                + "an app reports one notification under several ids, somebody else reports, or "
                + "the sender does not tell of all that it sends",
            ["more": impressions - sends, "impressions": impressions, "sent": sends])
    }

    // MARK: Versions

    /// Threshold: at the rate of the other versions, those sends would have given 20 reports. Not
    /// where 20 reports have no version, which may be this one's. Of the others all sends count,
    /// as all their reports do; and no report counts twice, as it does where a client or an app
    /// repeats it.
    private var versionsWithoutReports: [DeliveryFinding] {
        let withVersion = self.versions.values.reduce(UInt64(0)) { $0 + $1.reports }
        guard self.reports - min(self.reports, withVersion) < Self.few else { return [] }
        let others = self.versions.values.reduce(into: (sends: UInt64(0), reports: UInt64(0))) {
            guard $1.reports > 0 else { return }
            $0.sends += $1.sends
            $0.reports += $1.newReports
        }
        guard others.sends >= Self.few else { return [] }
        let rate = Double(others.reports) / Double(others.sends)
        let silent = self.versions.filter { $1.reports == 0 && $1.settledSends > 0 }
        return silent.sorted { $0.key < $1.key }.compactMap { version, counts in
            guard Double(counts.settledSends) * rate >= Double(Self.few) else { return nil }
            return Self.finding(
                .versionWithoutReports,
                "\(counts.settledSends.grouped) were sent to version \(version.text) \(self.place) "
                    + "\(Self.hours) hours ago or earlier, and it reports nothing, while others "
                    + "gave \(others.reports.grouped) reports of \(others.sends.grouped): see what "
                    + "that build changed",
                [
                    "sent": counts.settledSends, "reports_of_others": others.reports,
                    "sent_to_others": others.sends,
                ])
        }
    }

    // MARK: Reasons

    /// Threshold: 20, and a tenth of the attempts.
    private var tokensUnregistered: DeliveryFinding? {
        let count = self.reasons[.unregistered] ?? 0
        guard count >= Self.few, Self.isShare(count, of: self.attempts, percent: 10) else {
            return nil
        }
        return Self.finding(
            .tokensUnregistered,
            "\(count.grouped) of \(self.attempts.grouped) attempts \(self.place) had a token that "
                + "is registered no more: the app was deleted, or the token replaced; delete these "
                + "tokens, and store new ones when the app gets them",
            ["unregistered": count, "attempts": self.attempts])
    }

    /// What a sender told of: sent, failed and skipped.
    private var facts: UInt64 { self.attempts + self.hits(.sendSkipped) }

    /// Threshold: 20, a twentieth of what the sender told of, and twice the share of the delivery
    /// before, which has 100 such facts.
    private func reasonsThatGrew(since before: DeliveryCounts) -> [DeliveryFinding] {
        guard before.facts >= Self.fewSends else { return [] }
        return SendReason.allCases.compactMap { reason in
            let (count, earlier) = (self.reasons[reason] ?? 0, before.reasons[reason] ?? 0)
            let share = Double(count) / Double(max(1, self.facts))
            let shareBefore = Double(earlier) / Double(before.facts)
            guard count >= Self.few, Self.isShare(count, of: self.facts, percent: 5),
                share >= 2 * shareBefore
            else { return nil }
            return Self.finding(
                .sendReasonGrew,
                "\(count.grouped) of \(self.facts.grouped) sends \(self.place) were not made for "
                    + "`\(reason.name)`, \(Self.percent(share)), and \(Self.percent(shareBefore)) "
                    + "of those of the delivery before, \(before.delivery): \(reason.advice)",
                [
                    "not_sent": count, "of": self.facts, "not_sent_before": earlier,
                    "of_before": before.facts,
                ])
        }
    }

    /// A share in percent with one decimal, such as "4.2 %".
    private static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }

    // MARK: The flag

    /// Threshold: 20 reports, and a tenth of those that counted.
    private var sentWithoutFlag: DeliveryFinding? {
        let count = self.warned(.flagAssumedOn)
        let sends = self.hits(.sent) + self.hits(.sendFailed) + self.hits(.sendSkipped)
        let counted = self.accepted - min(self.accepted, sends)
        guard self.product == .standard, count >= Self.few,
            Self.isShare(count, of: counted, percent: 10)
        else { return nil }
        return Self.finding(
            .sentWithoutFlag,
            "\(count.grouped) of \(counted.grouped) reports \(self.place) came without "
                + "_acsDeliveryTracking, which Campaign adds to what it sends since release 21.1: "
                + "see whether the delivery's template is older, or the app drops the key",
            ["without_flag": count, "reports": counted])
    }
}

extension SendReason {
    /// What to do where it grows.
    fileprivate var advice: String {
        switch self {
        case .unregistered: "the app is deleted more often, or tokens are not renewed"
        case .invalidToken: "tokens of another app, sender or environment got among them"
        case .invalidPayload, .payloadTooLarge: "see what has changed in the payload"
        case .credentials: "see whether the key or certificate has expired"
        case .throttled: "send more slowly"
        case .providerError, .network, .other: "see the provider's own code"
        case .expired: "send earlier, or let notifications live longer"
        case .noConsent: "more recipients have switched notifications off"
        }
    }
}
