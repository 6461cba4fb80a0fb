internal import TrackingRules
package import WireFormat

/// A recipient who is to be forgotten, as the events of a tenant name it.
package struct Subject: Sendable, Equatable {
    /// The tenant.
    package let tenant: String
    /// The id, and the hashes under which `privacy.subject` has recorded it.
    package let ids: [String]

    /// The type of the message by which receivers of hits are told, as CloudEvents have it.
    package static let forgottenType = "sightline.v1.subject.forgotten"

    /// Creates a subject of a tenant.
    package init(tenant: String, ids: [String]) { (self.tenant, self.ids) = (tenant, ids) }

    /// Whether it is the subject with this id; an empty one is nobody's.
    package func has(_ id: Bytes) -> Bool {
        !id.isEmpty && self.ids.contains { $0.utf8.elementsEqual(id) }
    }

    /// Whether one of the ids stands somewhere in these bytes.
    package func occurs(in bytes: [UInt8]) -> Bool {
        self.ids.contains { bytes.firstRange(of: $0.utf8) != nil }
    }

    /// The length in bytes from which an id is masked wherever it stands. A shorter one, such as
    /// `1`, stands by chance within words and numbers that are about others.
    package static let minMaskedWithinBytes = 8

    /// A text of the same length with `*` in place of the ids; nil if nothing is to be masked. A
    /// short id is not masked within a longer run of ASCII letters and digits.
    package func masked(_ text: String) -> String? {
        var bytes = [UInt8](text.utf8)
        // A long one that is masked may leave a short one alone beside it.
        for id in self.ids.sorted(by: { $0.utf8.count > $1.utf8.count }) where !id.isEmpty {
            var start = bytes.startIndex
            while let range = bytes[start...].firstRange(of: id.utf8) {
                guard Self.isMasked(range, of: bytes) else {
                    start = range.lowerBound + 1
                    continue
                }
                for place in range { bytes[place] = UInt8(ascii: "*") }
                start = range.upperBound
            }
        }
        let masked = String(decoding: bytes, as: UTF8.self)
        return masked.utf8.elementsEqual(text.utf8) ? nil : masked
    }

    /// Whether an id at this place is masked.
    private static func isMasked(_ range: Range<Int>, of bytes: [UInt8]) -> Bool {
        if range.count >= Self.minMaskedWithinBytes { return true }
        /// Whether the bytes on both sides are of one run of letters and digits.
        func isWithinRun(_ place: Int) -> Bool {
            place > bytes.startIndex && place < bytes.endIndex
                && Self.isAlphanumeric(bytes[place - 1]) && Self.isAlphanumeric(bytes[place])
        }
        return !isWithinRun(range.lowerBound) && !isWithinRun(range.upperBound)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
