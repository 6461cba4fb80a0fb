// Finds the mistakes in a payload that break its tracking. It is not on the path of an event:
// nothing here judges an event, and a payload can be inspected before it is ever sent.
internal import JSON
package import TrackingRules
internal import WireFormat

/// Names the mistakes in a payload, and decides whether an interaction with it would be tracked.
/// InspectPayload and `sightline inspect` call `inspect`. It holds no state, does no I/O, throws
/// nothing, and takes time linear in the payload's size.
package struct PayloadInspector: Sendable {
    /// Creates an inspector.
    package init() {}

    /// Inspects one payload. For Android: a message as FCM takes it, of which the app sees only
    /// `data`, or that `data` as the app's code gets it. For iOS: the JSON that APNs takes. For
    /// either: an FCM v1 message, with its wrapper or as firebase-admin takes it.
    package func inspect(_ payload: PayloadDocument, platform: Platform) -> PayloadInspection {
        guard let root = payload.value.objectValue else {
            let finding = PayloadFinding(
                .error, "",
                "The payload is \(payload.value.described). A payload is a JSON "
                    + "object; give the whole object that the push service takes.")
            return PayloadInspection([finding])
        }
        let subject = PayloadSubject(payload, root: root, platform: platform)
        var findings = self.formFindings(subject) + self.conflictFindings(subject)
        findings += self.repetitionFindings(payload, but: subject.conflicts)
        findings += PayloadID.allCases.compactMap {
            PayloadIDReading(of: $0, in: subject).finding(in: subject)
        }
        if let flag = PayloadFlagReading(of: subject).finding(in: subject) { findings.append(flag) }
        findings += self.sizeFindings(subject, payload) + self.surrogateFindings(payload)
        findings += self.misplacedFindings(subject)
        findings += self.nearMissFindings(subject)
        findings += self.trackActionFindings(subject)
        findings += self.notificationFindings(subject)
        return PayloadInspection(findings)
    }

    /// Findings on what is too large to be pushed, and on a text that no event may hold.
    private func sizeFindings(
        _ subject: PayloadSubject, _ payload: PayloadDocument
    ) -> [PayloadFinding] {
        let limit = PayloadDocument.maximumByteCount
        // No part is larger than the text.
        guard payload.byteCount > limit else { return [] }
        var findings = subject.pushedParts.compactMap { path -> PayloadFinding? in
            guard let count = payload.pushedByteCount(at: path), count > limit else { return nil }
            let key = path.joined(separator: ".")
            let part = key.isEmpty ? "The payload" : "`\(key)`"
            return PayloadFinding(
                .error, key,
                "\(part) has \(count) bytes as it is pushed, in compact JSON and UTF-8, and APNs "
                    + "and FCM take at most \(limit): it will not arrive. Shorten its texts or its "
                    + "custom fields.")
        }
        let textLimit = Limits().rawPayloadBytes
        if payload.byteCount > textLimit {
            findings.append(
                PayloadFinding(
                    .error, "",
                    "The text has \(payload.byteCount) bytes, and an event takes a raw payload of "
                        + "at most \(textLimit) (limits.raw_payload_bytes): with this text it is "
                        + "rejected. Write it without indentation and escapes."))
        }
        return findings
    }

    /// The finding on a text that was cut within a character (D58).
    private func surrogateFindings(_ payload: PayloadDocument) -> [PayloadFinding] {
        guard let place = payload.unpairedSurrogate else { return [] }
        return [
            PayloadFinding(
                .warning, "",
                "A text has half of a character at byte \(place), such as `\\ud83d` without what "
                    + "follows it in an emoji. Hits are accepted with a warning, and people see a "
                    + "replacement character; cut texts between characters.")
        ]
    }

    /// Findings on keys with two values: no client is known to take the right one.
    private func conflictFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        subject.conflicts.map { path in
            PayloadFinding(
                .error, path,
                "`\(path)` is there with two different values, and what is sent as a raw payload "
                    + "with them is rejected. Keep the one that names the push.")
        }
    }

    /// Findings on other keys with two values. The values are not shown: one may be a token.
    private func repetitionFindings(
        _ payload: PayloadDocument, but conflicts: [String]
    ) -> [PayloadFinding] {
        var findings = PayloadFindings()
        var told = Set(conflicts.map { ExactText($0) })
        for repetition in payload.repetitions {
            let path = repetition.map(JSONValue.keyName).joined(separator: ".")
            guard told.insert(ExactText(path)).inserted else { continue }
            findings.add(
                .warning, path,
                "`\(path)` is there twice in one object, with different values. It is recorded as "
                    + "it is, but some clients take the first value and others the last; give "
                    + "each key once.")
        }
        return findings.list
    }

    /// Findings on the payload's form: whether it is one of its platform, or another's.
    private func formFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        var findings: [PayloadFinding] = []
        switch (subject.platform, subject.place) {
        case (_, .messageData), (_, .androidData), (_, .apnsPayload), (_, .adminAndroidData),
            (_, .adminAPNsPayload), (.ios, .data):
            findings = self.wrapperFindings(subject)
        case (.android, .topLevel) where !subject.hasNoID:
            findings = [
                PayloadFinding(
                    .note, "",
                    "The ids are at the top level: the payload is taken for the map of strings "
                        + "that code on Android gets. Without the ids in `data`, FCM's message "
                        + "could not bring them to the app.")
            ]
        case (.android, .topLevel), (.android, .data):
            findings = self.androidFormFindings(subject.root)
        case (.ios, .topLevel): findings = self.iosFormFindings(subject)
        }
        return findings
    }

    /// Findings on an FCM v1 message, with data or without.
    private func wrapperFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        guard subject.hasScope else {
            return [
                PayloadFinding(
                    .error, "message.data",
                    "`message.data` is missing. Of an FCM v1 message the app on Android sees only "
                        + "what is inside `data`, so the ids have to be there; add it.")
            ]
        }
        return [
            PayloadFinding(
                .note, subject.place.path.first == "message" ? "message" : "",
                "The payload is an FCM v1 message: the app's keys are read \(subject.place.name).")
        ]
    }

    private func androidFormFindings(_ root: JSONObject) -> [PayloadFinding] {
        var findings: [PayloadFinding] = []
        if let data = root["data"] {
            if data.objectValue == nil {
                findings.append(
                    PayloadFinding(
                        .error, "data",
                        "`data` is \(data.described). On Android it is an object, "
                            + "and the app sees nothing else; put the keys into an object."))
            }
        } else {
            findings.append(
                PayloadFinding(
                    .error, "data",
                    "`data` is missing. On Android the app sees only what is inside `data`, so the "
                        + "ids have to be there; add it."))
        }
        if root["aps"] != nil {
            findings.append(
                PayloadFinding(
                    .warning, "aps",
                    "`aps` is in an Android payload. Apple's push service alone reads it; inspect "
                        + "the payload as one of iOS, or remove `aps`."))
        }
        return findings
    }

    private func iosFormFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        if let aps = subject.root["aps"] {
            guard aps.objectValue == nil else { return [] }
            return [
                PayloadFinding(
                    .warning, "aps",
                    "`aps` is \(aps.described). It has to be an object, else iOS "
                        + "shows nothing; put alert, badge and sound into an object.")
            ]
        }
        let isLikeFCM = ["data", "collapseKey", "priority", "to"].contains {
            subject.root[$0] != nil
        }
        guard isLikeFCM, subject.hasNoID else {
            return [
                PayloadFinding(
                    .warning, "aps",
                    "`aps` is missing. iOS shows nothing without it; add `aps` with an `alert`.")
            ]
        }
        return [
            PayloadFinding(
                .warning, "",
                "The payload has FCM's keys and no `aps`, and the keys of iOS are at the top "
                    + "level. If a library of an iOS app made it of userInfo, give what is in "
                    + "`data` alone. If it is a payload of Android, inspect it as one, or use the "
                    + "payload that was made for iOS.")
        ]
    }
}
