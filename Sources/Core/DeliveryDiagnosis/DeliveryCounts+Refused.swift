// Findings on events that did not count: their flags and rejections. One event is enough for each.
internal import TrackingJournal
internal import TrackingRules

extension DeliveryCounts {
    /// Where the events happened, such as "on Android".
    var place: String {
        switch self.platform {
        case .android: "on Android"
        case .ios: "on iOS"
        case nil: "without a platform"
        }
    }

    /// A finding on some of the events, such as "362 of 4,100 on Android".
    ///
    /// - Parameter whole: the events that it may be of; nil for all.
    func finding(
        _ code: DeliveryFinding.Code, _ count: UInt64, of whole: UInt64? = nil, _ rest: String
    ) -> DeliveryFinding {
        let whole = whole ?? self.events
        return DeliveryFinding(
            code: code,
            sentence: "\(count.grouped) of \(whole.grouped) \(self.place): \(rest)",
            figures: [.init(name: "events", value: count), .init(name: "of", value: whole)])
    }

    // MARK: The flag (D1 to D7)

    /// One finding for each value that is neither on nor off.
    var flagFindings: [DeliveryFinding] {
        self.flags.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { value, count in
            self.finding(.flagUnknown, count, of: self.reports, self.explained(flag: value))
        }
    }

    private func explained(flag: String) -> String {
        let shown = "the flag was `\(flag)`"
        let letters = flag.lowercased()
        // Ledgers of earlier builds have question marks in place of escapes.
        let trimmed = letters.replacing(#/\\u\{[0-9a-f]*\}/#, with: "")
            .filter { $0 != " " && $0 != "?" }
        if flag.isEmpty {
            return "the flag was empty, and only `on` tracks; leave it out, or send it"
        }
        if flag == Ledger.otherValue {
            return "the flag had further values that are neither `on` nor `off`"
        }
        if letters == "on" || letters == "off" {
            return self.platform == .android
                ? "\(shown), which Android compares exactly; the app's code is `\"on\".equals`"
                : "\(shown), and without a platform it is compared as Android does, exactly; send "
                    + "the event's platform"
        }
        if trimmed == "on" || trimmed == "off" {
            return "\(shown), with something around it; the app compares the whole value"
        }
        if ["true", "1", "yes", "false", "0", "no"].contains(letters) {
            return "\(shown), and only `on` and `off` are values of it; pass the payload's "
                + "_acsDeliveryTracking on as it came"
        }
        return "\(shown), which is neither `on` nor `off`; pass the payload's "
            + "_acsDeliveryTracking on as it came"
    }

    // MARK: Rejections

    /// One finding for each field and rule.
    var rejectionFindings: [DeliveryFinding] {
        self.rejections.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { rule, count in
            self.finding(.rejected, count, "rejected, \(Self.explained(rule))")
        }
    }

    /// The rule in a row's detail, such as "push.apns.message_id required", with the mistakes that
    /// often break it (D13).
    static func explained(_ rule: String) -> String {
        let words = rule.split(separator: " ", maxSplits: 1)
        let (field, code) = (words.first ?? "", words.dropFirst().first ?? "")
        let advice: String
        switch (field, code) {
        case (_, "required") where field.hasSuffix("delivery_id") || field.hasSuffix("_dId"):
            advice = ": look for _dId in aps.alert, or under another name"
        case ("track_action.broadlog_id", "required"):
            advice = ": look for `messageId` in place of broadlogId"
        case (_, "required") where field.hasSuffix("message_id") || field.hasSuffix("_mId"):
            advice = ": look for `_mid` in place of `_mId`, or for ids nested in aps.alert"
        case ("push.kind", "conflict"), ("track_action.action", "conflict"):
            advice = ": Campaign Classic does not count it; see that `product` is right"
        case ("platform", "conflict"):
            advice = ": the payload is of the other platform"
        case (_, "format"):
            advice =
                ": the id has letters that no URL may have, as the placeholder [object Object] has"
        default: advice = ""
        }
        return "\(field) \(code.uppercased())\(advice)"
    }
}
