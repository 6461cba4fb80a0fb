// Correct keys in wrong places. The client does not look there, so they count as missing.
internal import JSON
internal import TrackingRules

extension PayloadInspector {
    /// A key that people put into the wrong object.
    private struct Misplacement {
        let keys: [String]
        /// Path of the wrong object, empty for the top level.
        let found: [String]
        /// Path of the right object.
        let right: [String]
    }

    private static func misplacements(_ subject: PayloadSubject) -> [Misplacement] {
        let scope = subject.place.path
        switch subject.platform {
        case .ios:
            // The data for all platforms has no `aps`: its keys are custom fields.
            guard ![.data, .messageData].contains(subject.place) else { return [] }
            return [
                Misplacement(
                    keys: [
                        "alert", "badge", "sound", "category", "content-available",
                        "mutable-content",
                    ], found: scope, right: scope + ["aps"]),
                Misplacement(
                    keys: ["title", "body"], found: scope, right: scope + ["aps", "alert"]),
                Misplacement(
                    keys: ["title", "body"], found: scope + ["aps"],
                    right: scope + ["aps", "alert"]),
                Misplacement(
                    keys: ["media-attachment-url", "uri"], found: scope + ["aps"], right: scope),
            ]
        case .android:
            guard subject.place != .topLevel else { return [] }
            return [
                Misplacement(
                    keys: [
                        "title", "body", "category", "media-attachment-url", "sound", "uri",
                        "badge",
                    ], found: [], right: scope)
            ]
        }
    }

    /// Ids, flag and content keys in places where no client looks (D1, D13, D31, D32).
    func misplacedFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        self.misplacedTrackingFindings(subject) + self.misplacedContentFindings(subject)
            + self.foreignFindings(subject)
    }

    private func misplacedTrackingFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        let ids = PayloadID.allCases.map(\.rawValue)
        var findings = PayloadFindings()
        for object in subject.otherObjects {
            let path = object.path
            for key in ids + [PayloadSubject.flagKey] {
                guard let value = object.members[key] else { continue }
                let text = object.isInText ? ", in a string that holds JSON" : ""
                let place =
                    path.isEmpty ? "at the top level" : "inside `\(Self.joined(path))`" + text
                let counted = ids.contains(key) ? subject.scope[key] : subject.flagValue
                let isMissing = counted == nil
                // In the same message, it is where an app on another platform reads it.
                guard isMissing || !subject.isOfOtherPlatform(object) else { continue }
                let damage: PayloadFinding.Severity = ids.contains(key) ? .error : .warning
                let fix = isMissing ? "move it there." : "it is there too, so this one can go."
                findings.add(
                    isMissing ? damage : .note, Self.joined(path + [key]),
                    "`\(key)` is \(place): \(value.excerpt). The client reads it only "
                        + "\(subject.place.name); \(fix)")
            }
        }
        return findings.list
    }

    private func misplacedContentFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        var findings: [PayloadFinding] = []
        for place in Self.misplacements(subject) {
            let found = Self.members(of: subject.root, at: place.found)
            let right = Self.members(of: subject.root, at: place.right)
            for key in place.keys where right[key] == nil {
                guard let value = found[key] else { continue }
                let target =
                    place.right.isEmpty
                    ? "at the top level" : "inside `\(Self.joined(place.right))`"
                findings.append(
                    PayloadFinding(
                        .warning, Self.joined(place.found + [key]),
                        "`\(key)` is in the wrong place: \(value.excerpt). It is read only "
                            + "\(target); move it there, unless it is a custom field of yours."))
            }
        }
        return findings
    }

    /// iOS's keys in a payload for Android (D34).
    private func foreignFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        guard subject.platform == .android else { return [] }
        return ["content-available", "mutable-content"].compactMap { key in
            guard let value = subject.scope[key] ?? subject.root[key] else { return nil }
            let path = subject.scope[key] == nil ? key : subject.path(key)
            return PayloadFinding(
                .note, path,
                "`\(key)` is \(value.excerpt). It is a setting of iOS, and an Android client takes "
                    + "it for a custom field; remove it if it was not meant as one.")
        }
    }

    private static func members(
        of root: JSONObject, at path: [String]
    ) -> JSONObject {
        path.reduce(root) { $0[$1]?.objectValue ?? [:] }
    }

    private static func joined(_ path: [String]) -> String {
        path.joined(separator: ".")
    }
}
