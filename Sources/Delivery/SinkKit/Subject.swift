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

    /// A text of the same length with `*` in place of the ids; nil if none of them stands in it.
    package func masked(_ text: String) -> String? {
        var bytes = [UInt8](text.utf8)
        for id in self.ids where !id.isEmpty {
            var start = bytes.startIndex
            while let range = bytes[start...].firstRange(of: id.utf8) {
                for place in range { bytes[place] = UInt8(ascii: "*") }
                start = range.upperBound
            }
        }
        let masked = String(decoding: bytes, as: UTF8.self)
        return masked.utf8.elementsEqual(text.utf8) ? nil : masked
    }
}
