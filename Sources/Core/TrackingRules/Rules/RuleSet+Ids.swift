// A push's ids must be present and safe in a URL (D8…D11, D48, D49), and should be no placeholders
// (D57).
internal import WireFormat

extension RuleSet {
    /// The field paths of a push's two ids, for violations.
    struct IDPaths {
        let delivery: String
        let broadlog: String
        /// How a violation calls an absent id. In JSON, a value that is not a string counts as
        /// absent.
        var absence = "missing"
    }

    /// Where a push has its two ids. Paths are built only for a violation: they are strings, which
    /// would be retained and released for each event.
    enum IDPlace {
        /// In fields of the event, by their paths.
        case fields(delivery: StaticString, broadlog: StaticString)
        /// In the JSON of a raw payload.
        case raw(delivery: PayloadPlace, broadlog: PayloadPlace)

        var paths: IDPaths {
            switch self {
            case .fields(let delivery, let broadlog):
                IDPaths(delivery: "\(delivery)", broadlog: "\(broadlog)")
            case .raw(let delivery, let broadlog):
                IDPaths(
                    delivery: delivery.violationPath(PayloadID.delivery.rawValue),
                    broadlog: broadlog.violationPath(PayloadID.message.rawValue),
                    absence: "missing, or no string")
            }
        }
    }

    static func idViolations(
        _ delivery: Bytes, _ broadlog: Bytes, in place: IDPlace
    ) -> [Violation] {
        if delivery.isSafeID, broadlog.isSafeID { return [] }
        let paths = place.paths
        return [(paths.delivery, delivery), (paths.broadlog, broadlog)].compactMap { field, id in
            if id.isSafeID { return nil }
            if id.isEmpty {
                return Violation(
                    field, .required,
                    "\(paths.absence): without both ids nothing can be counted; send the "
                        + "payload's own"
                )
            }
            if id.count > Limits.idBytes {
                return Violation(
                    field, .tooLarge,
                    "\(id.count) bytes, the limit is \(Limits.idBytes): send the payload's own id")
            }
            if id.isPlaceholder {
                return Violation(
                    field, .format,
                    "\(id.quoted) is what a program writes where it has no id: send the payload's "
                        + "own id")
            }
            return Violation(
                field, .format,
                "\(id.quoted) holds letters that are not safe in a URL: only A-Z a-z 0-9 . _ - "
                    + "may be used; send the payload's own id")
        }
    }

    /// Whether Campaign Standard could have made both ids: hex, and "h" and hex. Most ids are of
    /// this form and are then safe as well, so that this one check is enough. Others get
    /// WARNING_ID_NOT_HEX if the product is Standard (D49).
    static func areStandardIDs(_ delivery: Bytes, _ broadlog: Bytes) -> Bool {
        delivery.count <= Limits.idBytes && broadlog.count <= Limits.idBytes
            && delivery.isStandardDeliveryID && broadlog.isStandardBroadlogID
    }
}

extension UnsafeRawBufferPointer {
    /// Whether it needs no escaping in a URL, where clients put it (D10).
    package var isSafeID: Bool {
        self.count > 0 && self.count <= Limits.idBytes && ByteSet.safeInURL.containsAll(self)
    }

    /// Whether it is what a program writes where it has no id (D57): a word of a programming
    /// language, in any case, or zeros, also those of an empty UUID.
    package var isPlaceholder: Bool {
        let (zero, hyphen) = (UInt8(ascii: "0"), UInt8(ascii: "-"))
        return switch self.first {
        case zero: self.allSatisfy { $0 == zero || $0 == hyphen }
        case UInt8(ascii: "n"), UInt8(ascii: "N"), UInt8(ascii: "u"), UInt8(ascii: "U"),
            UInt8(ascii: "["), UInt8(ascii: "("), UInt8(ascii: "<"):
            Self.placeholders.contains { self.equalsIgnoringCase($0) }
        default: false
        }
    }

    /// Of JavaScript, Java, C#, Go, Python, Ruby, Swift and Objective-C, in lower case.
    private static let placeholders: [StaticString] = [
        "null", "undefined", "nil", "none", "nan", "[object object]", "(null)", "<null>", "<nil>",
    ]

    /// Whether Campaign Standard could have made this deliveryId.
    var isStandardDeliveryID: Bool { self.count > 0 && ByteSet.hexDigits.containsAll(self) }

    /// Whether Campaign Standard could have made this broadlogId.
    var isStandardBroadlogID: Bool {
        self.first == UInt8(ascii: "h")
            && Bytes(rebasing: self[1..<self.count]).isStandardDeliveryID
    }
}
