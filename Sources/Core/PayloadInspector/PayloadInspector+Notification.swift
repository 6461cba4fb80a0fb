// The notification itself. With these mistakes tracking works, but the person sees something else,
// or an interaction that the sender counts on is never reported.
internal import JSON
internal import TrackingRules
internal import WireFormat

extension PayloadInspector {
    /// Findings on how the push services and the system treat the payload (D13, D16, D31-D33).
    func notificationFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        switch subject.platform {
        case .android: self.androidFindings(subject)
        case .ios: self.iosFindings(subject)
        }
    }

    // MARK: - Android

    private func androidFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        var findings = self.textFindings(
            subject.scope, keys: self.dataKeys(subject), path: subject.prefix)
        if let badge = subject.scope["badge"], badge.badge == nil {
            findings.append(
                PayloadFinding(
                    .warning, subject.path("badge"),
                    "`badge` is \(badge.described). It is an integer or a string "
                        + "of decimal digits, at most \(Int32.max); write it as \"1\"."))
        }
        // In the map that code on Android gets, all keys are the sender's.
        if subject.place != .topLevel { findings += self.messageFindings(subject) }
        return findings
    }

    /// Findings on the keys that FCM itself reads.
    private func messageFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        var findings = self.textFindings(
            subject.root, keys: ["collapseKey", "priority", "to"], path: "")
        if let priority = subject.root["priority"]?.stringValue,
            !priority.equals("high"), !priority.equals("normal")
        {
            let seen = JSONValue.string(priority).excerpt
            findings.append(
                PayloadFinding(
                    .warning, "priority",
                    "`priority` is \(seen). FCM knows \"high\" and \"normal\"; write one of them."))
        }
        // The value is a device's token, so the text does not show it.
        for path in [["to"], ["token"], ["message", "token"]] where subject.has(path) {
            let key = path.joined(separator: ".")
            findings.append(
                PayloadFinding(
                    .note, key,
                    "`\(key)` names one device. It is there only in payloads written for a tester; "
                        + "take it out of anything that you share."))
        }
        return findings + self.shownBySystemFindings(subject)
    }

    /// Findings on a message with `notification`, which the system shows without running the app.
    private func shownBySystemFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        PayloadSubject.notificationPaths.filter(subject.has).map { path in
            let key = path.joined(separator: ".")
            return PayloadFinding(
                .warning, key,
                "`\(key)` makes Android show the notification itself and skip the app's code while "
                    + "the app is in the background: it reports no impression and no dismissal, "
                    + "and a tap only starts it, with `data` in the intent. Send `data` alone, and "
                    + "let the app show it.")
        }
    }

    /// The keys of `data` whose values must be strings and have no other check.
    private func dataKeys(_ subject: PayloadSubject) -> [String] {
        let others = PayloadID.allCases.map(\.rawValue) + [PayloadSubject.flagKey, "badge"]
        return subject.scopeMembers.map(\.key).filter { key in
            !others.contains { $0.equals(key) } && !Self.isOfFCM(key)
        }
    }

    // MARK: - iOS

    private func iosFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        let aps = subject.aps
        var findings = subject.layers.flatMap { layer in
            self.textFindings(
                layer.members, keys: ["media-attachment-url", "uri"], path: layer.prefix)
        }
        findings += self.textFindings(
            aps, keys: ["category"], path: subject.prefix + "aps.")
        findings += self.alertFindings(aps)
        if let badge = aps["badge"], badge.int32Value == nil {
            findings.append(
                PayloadFinding(
                    .warning, "aps.badge",
                    "`badge` is \(badge.described). iOS takes an integer of at "
                        + "most \(Int32.max) and leaves the icon alone otherwise; write it "
                        + "without quotes."))
        }
        findings += self.mediaFindings(subject)
        findings += self.switchFindings(aps)
        findings += self.backgroundFindings(aps)
        findings += self.categoryFindings(aps)
        return findings
    }

    private func alertFindings(_ aps: JSONObject) -> [PayloadFinding] {
        guard let alert = aps["alert"] else { return [] }
        if let members = alert.objectValue {
            return self.textFindings(members, keys: ["title", "body"], path: "aps.alert.")
        }
        guard alert.stringValue == nil else { return [] }
        return [
            PayloadFinding(
                .warning, "aps.alert",
                "`alert` is \(alert.described). iOS takes an object with `title` "
                    + "and `body`, or a string; write an object.")
        ]
    }

    private func mediaFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        guard let media = subject.scope["media-attachment-url"] else { return [] }
        guard subject.aps["mutable-content"] != .integer(1) else { return [] }
        let seen = subject.aps["mutable-content"]?.excerpt ?? "absent"
        return [
            PayloadFinding(
                .warning, "aps.mutable-content",
                "`mutable-content` is \(seen), and `media-attachment-url` is \(media.excerpt). iOS "
                    + "lets the app attach the media only with `mutable-content` 1 in `aps`; add "
                    + "it.")
        ]
    }

    private func switchFindings(_ aps: JSONObject) -> [PayloadFinding] {
        ["content-available", "mutable-content"].compactMap { key in
            guard let value = aps[key], value != .integer(1), value != .integer(0) else {
                return nil
            }
            return PayloadFinding(
                .warning, "aps." + key,
                "`\(key)` is \(value.described). iOS takes the integer 1 and "
                    + "nothing else for on; write 1, without quotes.")
        }
    }

    private func backgroundFindings(_ aps: JSONObject) -> [PayloadFinding] {
        guard aps["content-available"] != .integer(1) else { return [] }
        let seen = aps["content-available"]?.excerpt ?? "absent"
        return [
            PayloadFinding(
                .note, "aps.content-available",
                "`content-available` is \(seen). iOS reports an impression of an app in the "
                    + "background only with 1, and of a closed app never; set it to 1 if you "
                    + "count impressions, and never wait for one before a click or an open.")
        ]
    }

    private func categoryFindings(_ aps: JSONObject) -> [PayloadFinding] {
        guard let category = aps["category"]?.stringValue, !category.isEmpty else { return [] }
        return [
            PayloadFinding(
                .note, "aps.category",
                "`category` is \(JSONValue.string(category).excerpt). iOS reports a dismissal only "
                    + "when the app has registered this category with customDismissAction; check "
                    + "that it does, else dismissals are not counted.")
        ]
    }

    // MARK: - Both

    private func textFindings(
        _ members: JSONObject, keys: [String], path: String
    ) -> [PayloadFinding] {
        var findings = PayloadFindings()
        for key in keys {
            guard let value = members[key], value.stringValue == nil else { continue }
            let name = JSONValue.keyName(key)
            findings.add(
                .warning, path + name,
                "`\(name)` is \(value.described). Its value has to be a string; "
                    + "put it in quotes.")
        }
        return findings.list
    }
}
