// The two ids as the vendor's client reads them, and what is wrong with them.

/// The ids that tracking needs.
enum PayloadID: String, CaseIterable {
    case delivery = "_dId"
    case message = "_mId"

    /// What it stands for, and an example.
    var meaning: String {
        switch self {
        case .delivery: "the deliveryId, hex such as 56c4"
        case .message: "the broadlogId, `h` and hex such as h138a"
        }
    }

    /// Whether Campaign Standard could have made this id; capitals are allowed.
    func isStandard(_ id: String) -> Bool {
        switch self {
        case .delivery:
            return Self.isHex(id.utf8[...])
        case .message:
            guard let first = id.utf8.first else { return false }
            let isMarked = first == UInt8(ascii: "h") || first == UInt8(ascii: "H")
            return isMarked && Self.isHex(id.utf8.dropFirst())
        }
    }

    private static func isHex(_ bytes: Substring.UTF8View) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"):
                    true
                default:
                    false
                }
            }
    }

    /// Whether it may stand in a URL unescaped, where clients put it: 1 to 64 of `[A-Za-z0-9._-]`.
    static func isSafe(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default:
                    false
                }
            }
    }
}

/// One id, as it was found in its place.
struct PayloadIDReading {
    /// Which id.
    let id: PayloadID
    private let value: JSONValue?

    init(of id: PayloadID, in subject: PayloadSubject) {
        self.id = id
        self.value = subject.scope[id.rawValue]
    }

    /// What is wrong with it, nothing for a sound one.
    func findings(in subject: PayloadSubject) -> [PayloadFinding] {
        let key = self.id.rawValue
        let path = subject.path(key)
        guard let value else {
            let text =
                "`\(key)` is missing \(subject.scopeName). It is \(self.id.meaning); without both "
                + "ids the push is valid and cannot be tracked. Add it as Campaign gives it."
            return [PayloadFinding(.error, path, text)]
        }
        guard let text = value.stringValue else {
            let text =
                "`\(key)` is \(value.described). Ids are strings, and clients "
                + "take anything else for absent, so nothing is tracked. Put it in quotes."
            return [PayloadFinding(.error, path, text)]
        }
        guard !text.isEmpty else {
            let text =
                "`\(key)` is empty: \"\". Without both ids nothing is tracked. Fill in "
                + "\(self.id.meaning)."
            return [PayloadFinding(.error, path, text)]
        }
        return self.shapeFindings(of: value, text: text, path: path)
    }

    private func shapeFindings(
        of value: JSONValue, text: String, path: String
    ) -> [PayloadFinding] {
        let key = self.id.rawValue
        guard PayloadID.isSafe(text) else {
            let text =
                "`\(key)` is \(value.excerpt), \(text.utf8.count) bytes. Clients put it into a URL "
                + "unescaped, so it has 1 to 64 of the characters A-Z a-z 0-9 . _ - and its hits "
                + "are rejected otherwise. Use the id that Campaign gave."
            return [PayloadFinding(.error, path, text)]
        }
        guard !self.id.isStandard(text) else { return [] }
        let text =
            "`\(key)` is \(value.excerpt), which is not hex. Campaign Standard's is "
            + "\(self.id.meaning); hits are accepted with a warning. Check where it comes from, "
            + "unless Campaign Classic made it: its ids are decimal or UUIDs."
        return [PayloadFinding(.warning, path, text)]
    }
}
