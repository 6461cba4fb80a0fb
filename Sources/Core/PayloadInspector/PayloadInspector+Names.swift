// Misspelt keys. Clients compare keys letter for letter, so a misspelt key is a missing key.
internal import JSON
internal import TrackingRules
internal import WireFormat

extension PayloadInspector {
    /// The longest key, in bytes, that is compared: a longer one is no typo of a known key.
    private static let maximumComparedKeyLength = 64

    /// Known keys, each with the number of typos that still suggest it. Short ones allow none,
    /// since `mid` and `did` are themselves one letter apart.
    private static let knownKeys = [
        (PayloadID.delivery.rawValue, 0), (PayloadID.message.rawValue, 0),
        (PayloadSubject.flagKey, 2), ("media-attachment-url", 2), ("content-available", 2),
        ("mutable-content", 2), ("collapseKey", 1),
    ].map { (key: $0.0, letters: letters(of: $0.0), typos: $0.1) }

    /// Keys that FCM itself puts beside the app's, and beginnings of such keys.
    private static let fcmKeys = ["from", "collapse_key", "message_type", "rawData"]
    private static let fcmPrefixes = ["google.", "gcm."]

    /// Whether a key is FCM's own: no sender can rename it, or put its value in quotes.
    static func isOfFCM(_ key: String) -> Bool {
        Self.fcmKeys.contains { key.utf8.elementsEqual($0.utf8) }
            || Self.fcmPrefixes.contains { key.utf8.starts(with: $0.utf8) }
    }

    /// Keys that differ from a known one in case, separators or a typo (D1, D13).
    func nearMissFindings(_ subject: PayloadSubject) -> [PayloadFinding] {
        var places = [("", subject.rootMembers)]
        if subject.place != .topLevel {
            places += subject.layers.map { ($0.prefix, $0.members.inKeyOrder) }
        }
        if subject.platform == .ios {
            places.append((subject.prefix + "aps.", subject.aps.inKeyOrder))
            places.append(
                (
                    subject.prefix + "aps.alert.",
                    subject.aps["alert"]?.objectValue?.inKeyOrder ?? []
                ))
        }
        var findings = PayloadFindings()
        for (path, members) in places {
            for (key, value) in members {
                self.addNearMiss(key, value: value, path: path, in: subject, to: &findings)
            }
        }
        return findings.list
    }

    private func addNearMiss(
        _ key: String, value: JSONValue, path: String, in subject: PayloadSubject,
        to findings: inout PayloadFindings
    ) {
        guard !Self.isOfFCM(key), let meant = Self.knownKey(near: key) else { return }
        let home = self.home(of: meant, in: subject)
        let isID = PayloadID(rawValue: meant) != nil
        let damage: PayloadFinding.Severity = isID ? .error : .warning
        let name = JSONValue.keyName(key)
        findings.add(
            home.members[meant] == nil ? damage : .note, path + name,
            "`\(name)` is no key that clients know, with the value \(value.excerpt). Did you mean "
                + "`\(meant)`, \(home.name)?\(isID ? Self.lookAlike(in: key) : "") Keys are "
                + "compared letter for letter; rename it, unless it is a custom field of yours.")
    }

    /// Says what an id's key has in place of its `I`, since people cannot see it.
    private static func lookAlike(in key: String) -> String {
        let found = key.unicodeScalars.first { "L1l|".unicodeScalars.contains($0) }
        return found.map { " It has a capital i where this has `\($0)`." } ?? ""
    }

    /// The object to which a known key belongs.
    private func home(
        of key: String, in subject: PayloadSubject
    ) -> (name: String, members: JSONObject) {
        switch (key, subject.platform) {
        case ("content-available", .ios), ("mutable-content", .ios):
            ("inside `aps`", subject.aps)
        case ("collapseKey", _):
            ("at the top level of a payload for Android", subject.root)
        default:
            (subject.place.name, subject.scope)
        }
    }

    private static func knownKey(near key: String) -> String? {
        guard key.utf8.count <= self.maximumComparedKeyLength else { return nil }
        guard !self.knownKeys.contains(where: { $0.key.equals(key) }) else { return nil }
        let letters = self.letters(of: key)
        return self.knownKeys.first { known in
            guard abs(known.letters.count - letters.count) <= known.typos else { return false }
            return known.letters == letters
                || (known.typos > 0 && self.distance(letters, known.letters) <= known.typos)
        }?.key
    }

    /// The letters and digits of a key in lower case, without the separators of its style. What
    /// looks like an `I` is one: the vendor's own page has `_dld` for `_dId`.
    static func letters(of key: String) -> [UInt8] {
        key.utf8.compactMap { byte in
            switch byte {
            case UInt8(ascii: "L"), UInt8(ascii: "l"), UInt8(ascii: "1"), UInt8(ascii: "|"):
                UInt8(ascii: "i")
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: " "), UInt8(ascii: "."): nil
            default: byte
            }
        }
    }

    /// The number of insertions, deletions and replacements between two keys (Levenshtein).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var previous = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                let replaced = previous[column] + (byte == other ? 0 : 1)
                current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
            }
            previous = current
        }
        return previous[right.count]
    }
}
