// The names of trackAction's variables in a payload: people confuse the two interfaces.
internal import JSON
internal import TrackingRules
internal import WireFormat

extension PayloadInspector {
    /// The variables of trackAction, by their letters, with the payload's id that each one holds.
    private static let variables: [(name: String, letters: [UInt8], id: PayloadID)] = [
        ("broadlogId", letters(of: "broadlogId"), .message),
        ("broadlogId", letters(of: "messageId"), .message),
        ("deliveryId", letters(of: "deliveryId"), .delivery),
    ]

    /// Findings on `action`, `broadlogId`, `deliveryId` and `messageId` (D8, D9, D13, D14).
    func trackActionFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        let isPayload =
            ["aps", "data", "message"].contains { subject.root[$0] != nil } || !subject.hasNoID
        let variables = subject.rootMembers.filter { Self.variable(near: $0.key) != nil }
        guard isPayload || (variables.isEmpty && subject.root["action"] == nil) else {
            return self.explainedTrackAction(subject, variables: variables)
        }
        var places = [("", subject.rootMembers, subject.root["action"])]
        if subject.place != .topLevel {
            places += subject.layers.map { prefix, members in
                (prefix, members.inKeyOrder, members["action"])
            }
        }
        return places.flatMap { path, members, action in
            self.payloadFindings(members, action: action, path: path, in: subject)
        }
    }

    /// The variable that a key names, in any style.
    private static func variable(near key: String) -> (name: String, id: PayloadID)? {
        let letters = Self.letters(of: key)
        return Self.variables.first { $0.letters == letters }.map { ($0.name, $0.id) }
    }

    /// The names in a real payload: ids under a wrong name, or custom fields that look like ids.
    private func payloadFindings(
        _ members: [(key: String, value: JSONValue)], action: JSONValue?, path: String,
        in subject: PayloadSubject
    ) -> [PayloadFinding] {
        var findings = PayloadFindings()
        for (key, value) in members {
            guard !Self.isOfFCM(key), let variable = Self.variable(near: key) else { continue }
            let name = JSONValue.keyName(key)
            let isMissing = subject.scope[variable.id.rawValue] == nil
            findings.add(
                isMissing ? .error : .note, path + name,
                "`\(name)` is \(value.excerpt). In a payload the client reads this id only as "
                    + "`\(variable.id.rawValue)`, \(subject.place.name); "
                    + (isMissing ? "rename it." : "this one is a custom field."))
        }
        // Any other action in a payload is an ordinary custom field.
        guard let action, self.actionNumber(action) == 1 else { return findings.list }
        return findings.list + [self.actionFinding(action, path: path + "action")]
    }

    /// Explains JSON that is not a payload but the input of trackAction.
    private func explainedTrackAction(
        _ subject: PayloadSubject, variables: [(key: String, value: JSONValue)]
    ) -> [PayloadFinding] {
        var findings = [
            PayloadFinding(
                .note, "",
                "This looks like the variables of trackAction and not like a payload: a payload "
                    + "holds `_mId` and `_dId`, and the app sends them as `broadlogId` and "
                    + "`deliveryId` with an `action`. Inspect the payload that the device got.")
        ]
        // Bounded: an inspection keeps no more findings, so further ones are not worded.
        findings += variables.lazy.flatMap { key, value in
            Self.variable(near: key).map {
                self.variableFindings(key, value: value, name: $0.name)
            } ?? []
        }.prefix(PayloadInspection.maximumFindingCount)
        if let action = subject.root["action"] {
            findings.append(self.actionFinding(action, path: "action"))
        }
        return findings
    }

    private func variableFindings(
        _ key: String, value: JSONValue, name: String
    ) -> [PayloadFinding] {
        let shown = JSONValue.keyName(key)
        guard key.equals(name) else {
            return [
                PayloadFinding(
                    .error, shown,
                    "`\(shown)` is \(value.excerpt). trackAction takes this id only as `\(name)`, "
                        + "letter for letter, and tracks nothing without it; rename it.")
            ]
        }
        guard value.stringValue?.isEmpty != false else { return [] }
        return [
            PayloadFinding(
                .error, shown,
                "`\(shown)` is \(value.described). trackAction takes a string "
                    + "that is not empty; give the id as Campaign made it, in quotes.")
        ]
    }

    private func actionNumber(_ value: JSONValue) -> Int64? {
        value.integerValue ?? value.stringValue.flatMap { Int64($0) }
    }

    private func actionFinding(_ value: JSONValue, path: String) -> PayloadFinding {
        let rule = "Actions are the strings \"1\" open, \"2\" click and \"7\" impression"
        switch self.actionNumber(value) {
        case 1:
            return PayloadFinding(
                .warning, path,
                "`action` is \(value.excerpt), which counts an open (or a receipt, for Campaign "
                    + "Classic). \(rule), and a dismissal is a click alone; send \"2\" for it. An "
                    + "old sample of the vendor sent 1 for a dismissal and spoiled the open rate.")
        case 2, 3, 4, 5, 7:
            guard value.stringValue == nil else {
                return PayloadFinding(
                    .note, path,
                    "`action` is \(value.excerpt). \(rule); the app decides it, and a payload "
                        + "needs none.")
            }
            return PayloadFinding(
                .warning, path,
                "`action` is \(value.described). \(rule); put it in quotes.")
        default:
            return PayloadFinding(
                .warning, path,
                "`action` is \(value.excerpt), which trackAction does not know. \(rule), and 3 to "
                    + "5 for in-app messages of Campaign; send one of these.")
        }
    }
}
