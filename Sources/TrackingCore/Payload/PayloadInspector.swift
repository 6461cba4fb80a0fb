// Says what in a payload would spoil its tracking. It stands beside the path of an event: nothing
// here judges an event, and a payload may be inspected before it was ever sent.

/// Names the mistakes in a payload, and says whether it would be tracked. It holds no state, does
/// no I/O and throws nothing; its time grows with the payload's size and no faster.
package struct PayloadInspector: Sendable {
    /// What APNs and FCM take at most, in bytes.
    package static let maximumByteCount = 4096

    /// An inspector.
    package init() {}

    /// Inspects one payload: on Android the JSON that FCM takes, whose `data` alone the app sees;
    /// on iOS the JSON that APNs takes. `byteCount` is the size of the JSON as it would be sent.
    package func inspect(
        _ payload: JSONValue, byteCount: Int, platform: Platform
    ) -> PayloadInspection {
        guard let root = payload.objectValue else {
            let finding = PayloadFinding(
                .error, "",
                "The payload is \(payload.described). A payload is a JSON "
                    + "object; give the whole object that the push service takes.")
            return PayloadInspection([finding])
        }
        let subject = PayloadSubject(root: root, platform: platform)
        var findings = self.formFindings(subject)
        findings += PayloadID.allCases.compactMap {
            PayloadIDReading(of: $0, in: subject).finding(in: subject)
        }
        if let flag = PayloadFlagReading(of: subject).finding(in: subject) { findings.append(flag) }
        findings += self.sizeFindings(byteCount)
        findings += self.misplacedFindings(subject)
        findings += self.nearMissFindings(subject)
        findings += self.trackActionFindings(subject)
        findings += self.notificationFindings(subject)
        return PayloadInspection(findings)
    }

    private func sizeFindings(_ byteCount: Int) -> [PayloadFinding] {
        guard byteCount > Self.maximumByteCount else { return [] }
        return [
            PayloadFinding(
                .error, "",
                "The payload has \(byteCount) bytes, and APNs and FCM take at most "
                    + "\(Self.maximumByteCount): it will not arrive. Shorten its texts or its "
                    + "custom fields.")
        ]
    }

    /// What the payload as a whole looks like: the right kind for its platform, or another's.
    private func formFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        switch subject.platform {
        case .android: self.androidFormFindings(subject.root)
        case .ios: self.iosFormFindings(subject.root)
        }
    }

    private func androidFormFindings(_ root: [String: JSONValue]) -> [PayloadFinding] {
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

    private func iosFormFindings(_ root: [String: JSONValue]) -> [PayloadFinding] {
        if let aps = root["aps"] {
            guard aps.objectValue == nil else { return [] }
            return [
                PayloadFinding(
                    .warning, "aps",
                    "`aps` is \(aps.described). It has to be an object, else iOS "
                        + "shows nothing; put alert, badge and sound into an object.")
            ]
        }
        let isLikeFCM = ["data", "collapseKey", "priority", "to"].contains { root[$0] != nil }
        guard isLikeFCM else {
            return [
                PayloadFinding(
                    .warning, "aps",
                    "`aps` is missing. iOS shows nothing without it; add `aps` with an `alert`.")
            ]
        }
        return [
            PayloadFinding(
                .warning, "",
                "The payload looks like one of Android: it has FCM's keys and no `aps`. The keys "
                    + "of iOS are at the top level; inspect it as one of Android, or use the "
                    + "payload that was made for iOS.")
        ]
    }
}
