// The two ids as the vendor's client reads them, and their mistakes.
internal import JSON
internal import TrackingRules
internal import WireFormat

/// One id as it is in the scope.
struct PayloadIDReading {
    /// Which id.
    let id: PayloadID
    private let value: JSONValue?

    init(of id: PayloadID, in subject: PayloadSubject) {
        self.id = id
        self.value = subject.scope[id.rawValue]
    }

    /// The finding on the id; nil for a valid one.
    func finding(in subject: PayloadSubject) -> PayloadFinding? {
        let key = self.id.rawValue
        func error(_ text: String) -> PayloadFinding {
            PayloadFinding(.error, subject.path(key), text)
        }
        guard let value else {
            return error(
                "`\(key)` is missing \(subject.place.name). It is \(self.id.meaning); without both "
                    + "ids the push is valid and cannot be tracked. Add it as Campaign gives it.")
        }
        guard let text = value.stringValue else {
            return error(
                "`\(key)` is \(value.described). Ids are strings, and clients "
                    + "take anything else for absent, so nothing is tracked. Put it in quotes.")
        }
        guard !text.isEmpty else {
            return error(
                "`\(key)` is empty: \"\". Without both ids nothing is tracked. Fill in "
                    + "\(self.id.meaning).")
        }
        let isSafe = text.withBytes(\.isSafeID)
        guard !text.withBytes(\.isPlaceholder) else {
            return PayloadFinding(
                isSafe ? .warning : .error, subject.path(key),
                "`\(key)` is \(value.excerpt), which a program writes where it has no id. Its hits "
                    + (isSafe
                        ? "are accepted with a warning, and all recipients count as one"
                        : "are rejected")
                    + ". It is \(self.id.meaning); put in the id that Campaign gave.")
        }
        guard isSafe else {
            return error(
                "`\(key)` is \(value.excerpt), \(text.utf8.count) bytes. Clients put it into a "
                    + "URL unescaped, so it has 1 to 64 of the characters A-Z a-z 0-9 . _ - and "
                    + "its hits are rejected otherwise. Use the id that Campaign gave.")
        }
        guard !text.withBytes(self.id.isStandard) else { return nil }
        return PayloadFinding(
            .warning, subject.path(key),
            "`\(key)` is \(value.excerpt), which is not hex. Campaign Standard's is "
                + "\(self.id.meaning); hits are accepted with a warning. Check where it comes "
                + "from, unless Campaign Classic made it: its ids are decimal or UUIDs.")
    }
}
