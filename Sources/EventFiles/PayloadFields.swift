internal import TrackingCore

/// The unread members of a JSON object in a payload. Each known key is removed and its type
/// checked; what remains is custom or unknown, so that no key is lost by mistake.
struct PayloadFields {
    private let path: String
    private var rest: [String: JSONValue]

    /// Creates the fields of an object; `path` locates it in the payload, empty for the root.
    init(_ members: [String: JSONValue], path: String) {
        self.path = path
        self.rest = members
    }

    /// Removes a member; null counts as absent, as in proto3 JSON.
    mutating func take(_ key: String) -> JSONValue? {
        guard let value = self.rest.removeValue(forKey: key), value != .null else { return nil }
        return value
    }

    /// Removes a member, including null.
    mutating func takeRaw(_ key: String) -> JSONValue? {
        self.rest.removeValue(forKey: key)
    }

    /// Removes a member only if it is a string.
    mutating func takeText(_ key: String) -> String? {
        guard let text = self.rest[key]?.stringValue else { return nil }
        self.rest[key] = nil
        return text
    }

    /// Removes a string; empty if absent, as in proto3.
    mutating func takeString(_ key: String) throws(PayloadError) -> String {
        guard let value = self.take(key) else { return "" }
        guard let text = value.stringValue else {
            throw self.wrongType(key, value, rule: "It is a string", fix: "put it in quotes")
        }
        return text
    }

    /// Removes an iOS switch, which is an integer; 0 if absent.
    mutating func takeSwitch(_ key: String) throws(PayloadError) -> Int32 {
        guard let value = self.take(key) else { return 0 }
        guard let number = value.int32Value else {
            throw self.wrongType(
                key, value, rule: "It is the integer 1, or absent", fix: "write 1, without quotes")
        }
        return number
    }

    /// Removes the badge: an integer, or digits in a string (the vendor's samples have both).
    mutating func takeBadge() throws(PayloadError) -> Int32? {
        guard let value = self.take("badge") else { return nil }
        if let number = value.badge { return number }
        throw self.wrongType(
            "badge", value, rule: "It is an integer or decimal digits, at most \(Int32.max)",
            fix: "write 1 or \"1\"")
    }

    /// Removes an object.
    mutating func takeObject(_ key: String) throws(PayloadError) -> PayloadFields? {
        guard let value = self.take(key) else { return nil }
        guard let members = value.objectValue else {
            throw self.wrongType(
                key, value, rule: "It is an object", fix: "put its keys into { }")
        }
        return PayloadFields(members, path: self.pathOf(key))
    }

    /// The remaining members as custom fields: strings unchanged, other values as JSON text.
    consuming func customFields() -> [String: String] {
        self.rest.mapValues { $0.stringValue ?? $0.text }
    }

    /// Throws if members remain in an object without custom fields.
    func finish(rule: String) throws(PayloadError) {
        guard let (key, value) = self.rest.inKeyOrder.first(where: { $0.value != .null }) else {
            return
        }
        throw PayloadError.unknownKey(
            key: self.pathOf(key), seen: value.described, rule: rule,
            fix: "move it or remove it, then send again")
    }

    private func wrongType(
        _ key: String, _ value: JSONValue, rule: String, fix: String
    ) -> PayloadError {
        PayloadError.wrongType(
            key: self.pathOf(key), seen: value.described, rule: rule, fix: fix)
    }

    private func pathOf(_ key: String) -> String {
        let name = JSONValue.keyName(key)
        return self.path.isEmpty ? name : "\(self.path).\(name)"
    }
}
