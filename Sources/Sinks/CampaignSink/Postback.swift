// What the vendor's clients send for a hit (D36, D37), as a function of its fields.
internal import TrackingRules
internal import WireFormat

/// What is sent for a hit.
enum Postback: Equatable {
    /// A GET with this query, from its question mark on.
    case query(String)
    /// Nothing: the vendor's clients count no such hit either.
    case nothing
    /// Nothing, because Campaign could not tell which message it was; with the reason.
    case refused(String)

    /// The postback of a hit.
    init(_ hit: Hit) {
        let (delivery, broadlog) = (hit.deliveryID.text, hit.broadlogID.text)
        self =
            switch hit.product {
            case .standard:
                Self.standard(
                    broadlog: broadlog, delivery: delivery, action: hit.campaignAction,
                    subject: hit.subjectID.text)
            case .classic:
                Self.classic(broadlog: broadlog, delivery: delivery, tag: hit.campaignAction)
            case .firebase: .nothing
            }
    }

    /// Campaign Standard's: ids as they came, nothing without a subject (D36).
    static func standard(
        broadlog: String, delivery: String, action: UInt32, subject: String
    ) -> Postback {
        if broadlog.isEmpty || delivery.isEmpty || action == 0 || subject.isEmpty {
            return .nothing
        }
        return .query("?id=\(broadlog),\(delivery),\(action)&mcId=\(Self.escaped(subject))")
    }

    /// Campaign Classic's: `h` before the message's id, no subject (D37).
    static func classic(broadlog: String, delivery: String, tag: UInt32) -> Postback {
        if broadlog.isEmpty || delivery.isEmpty || tag == 0 { return .nothing }
        guard let id = Self.isUUID(broadlog) ? broadlog : Self.hex(ofDecimal: broadlog) else {
            return .refused(
                "its broadlog id is neither a UUID nor a decimal number of 64 bits, as Campaign "
                    + "Classic's are: check the product and `_mId` that the app reports")
        }
        return .query("?id=h\(id),\(delivery),\(tag)")
    }

    /// Lower-case hex of all 64 bits. A negative number that fits into 32 bits has those alone, as
    /// Android's client sends it since 3.1.4.
    private static func hex(ofDecimal text: String) -> String? {
        guard let number = Int64(text) else { return nil }
        if number < 0, let small = Int32(exactly: number) {
            return String(UInt32(bitPattern: small), radix: 16)
        }
        return String(UInt64(bitPattern: number), radix: 16)
    }

    private static let lengthsOfUUID = [8, 4, 4, 4, 12]

    /// Whether a text is 32 hex digits of either case, with hyphens in a UUID's places.
    private static func isUUID(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == Self.lengthsOfUUID
            && parts.joined().allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                    UInt8(ascii: "A")...UInt8(ascii: "F"):
                    true
                default: false
                }
            }
    }

    /// Percent-encodes all but RFC 3986's unreserved characters.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return escaped
    }
}
