// One JSON object of a payload while it is read: each known key is taken out with its type checked,
// and what is left at the end is custom or unknown. So no key can be lost by being forgotten.

internal import TrackingCore

/// The members of one object that have not been read yet.
struct PayloadFields {
    private let path: String
    private var rest: [String: JSONValue]

    /// An object of the payload; `path` is its own, empty for the payload itself.
    init(_ members: [String: JSONValue], path: String) {
        self.path = path
        self.rest = members
    }

    /// Takes a member that counts as absent where it is null, as in proto3 JSON.
    mutating func take(_ key: String) -> JSONValue? {
        guard let value = self.rest.removeValue(forKey: key), value != .null else { return nil }
        return value
    }

    /// Takes a member as it is, null too.
    mutating func takeRaw(_ key: String) -> JSONValue? {
        self.rest.removeValue(forKey: key)
    }

    /// Takes a member only where it is a string, and leaves it where it is anything else.
    mutating func takeText(_ key: String) -> String? {
        guard let text = self.rest[key]?.stringValue else { return nil }
        self.rest[key] = nil
        return text
    }

    /// Takes a string; empty where it is absent, as in proto3.
    mutating func takeString(_ key: String) throws(PayloadError) -> String {
        guard let value = self.take(key) else { return "" }
        guard let text = value.stringValue else {
            throw self.wrongType(key, value, rule: "It is a string", fix: "put it in quotes")
        }
        return text
    }

    /// Takes a switch of iOS, which is an integer; 0 where it is absent.
    mutating func takeSwitch(_ key: String) throws(PayloadError) -> Int32 {
        guard let value = self.take(key) else { return 0 }
        guard let number = value.int32Value else {
            throw self.wrongType(
                key, value, rule: "It is the integer 1, or absent", fix: "write 1, without quotes")
        }
        return number
    }

    /// Takes the badge.
    mutating func takeBadge() throws(PayloadError) -> Int32? {
        guard let value = self.take("badge") else { return nil }
        if let number = value.badge { return number }
        throw self.wrongType(
            "badge", value, rule: "It is an integer or decimal digits, at most \(Int32.max)",
            fix: "write 1 or \"1\"")
    }

    /// Takes an object, whose fields are then read in their turn.
    mutating func takeObject(_ key: String) throws(PayloadError) -> PayloadFields? {
        guard let value = self.take(key) else { return nil }
        guard let members = value.objectValue else {
            throw self.wrongType(
                key, value, rule: "It is an object", fix: "put its keys into { }")
        }
        return PayloadFields(members, path: self.pathOf(key))
    }

    /// All that is left, as custom fields: strings as they are, anything else as JSON text.
    consuming func customFields() -> [String: String] {
        self.rest.mapValues { $0.stringValue ?? $0.text }
    }

    /// Refuses what is left, in an object for which the contract has no custom fields.
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
