internal import JSON
internal import TrackingRules

/// A payload has something for which a typed message has no field, or not of its type.
struct NoFieldError: Error {}

/// The unread members of a JSON object in a payload. Each known key is removed and its type
/// checked; what remains has no field of its own.
struct PayloadFields {
    private var rest: [String: JSONValue]

    /// Creates the fields of an object.
    init(_ members: [String: JSONValue]) { self.rest = members }

    /// Removes a member; null counts as absent, as in proto3 JSON.
    private mutating func take(_ key: String) -> JSONValue? {
        guard let value = self.rest.removeValue(forKey: key), value != .null else { return nil }
        return value
    }

    /// Removes the flag as `platform` reads it: on iOS what is no string counts as absent; on
    /// Android it becomes its JSON text, which is neither on nor off (D5).
    mutating func takeFlag(_ platform: Platform) -> String? {
        guard let value = self.rest.removeValue(forKey: "_acsDeliveryTracking") else { return nil }
        return value.stringValue ?? (platform == .android ? value.text : nil)
    }

    /// Removes a string; empty if absent, as in proto3.
    mutating func takeString(_ key: String) throws(NoFieldError) -> String {
        guard let value = self.take(key) else { return "" }
        guard let text = value.stringValue else { throw NoFieldError() }
        return text
    }

    /// Removes a string, and leaves anything else where it is.
    mutating func takeText(_ key: String) -> String? {
        guard let text = self.rest[key]?.stringValue else { return nil }
        self.rest[key] = nil
        return text
    }

    /// Removes an iOS switch, which is an integer; 0 if absent.
    mutating func takeSwitch(_ key: String) throws(NoFieldError) -> Int32 {
        guard let value = self.take(key) else { return 0 }
        guard let number = value.int32Value else { throw NoFieldError() }
        return number
    }

    /// Removes the badge: an integer, or digits in a string (the vendor's samples have both).
    mutating func takeBadge() throws(NoFieldError) -> Int32? {
        guard let value = self.take("badge") else { return nil }
        guard let number = value.badge else { throw NoFieldError() }
        return number
    }

    /// Removes an object.
    mutating func takeObject(_ key: String) throws(NoFieldError) -> PayloadFields? {
        guard let value = self.take(key) else { return nil }
        guard let members = value.objectValue else { throw NoFieldError() }
        return PayloadFields(members)
    }

    /// Keeps the remaining members of an object that was taken under its key.
    mutating func putBack(_ fields: PayloadFields, as key: String) {
        if !fields.rest.isEmpty { self.rest[key] = .object(fields.rest) }
    }

    /// The remaining members as a map of strings: other values as JSON text.
    ///
    /// - Throws: where the map exceeds the server's limits for one (D42).
    consuming func map() throws(NoFieldError) -> [String: String] {
        let map = self.rest.mapValues { $0.stringValue ?? $0.text }
        let isWithinLimits =
            map.count <= Limits.mapEntries
            && map.allSatisfy { key, value in
                key.utf8.count <= Limits.mapKeyBytes && value.utf8.count <= Limits.mapValueBytes
            }
        guard isWithinLimits else { throw NoFieldError() }
        return map
    }

    /// Throws if members remain in an object that has no map for them.
    func finish() throws(NoFieldError) {
        guard self.rest.values.allSatisfy({ $0 == .null }) else { throw NoFieldError() }
    }
}
