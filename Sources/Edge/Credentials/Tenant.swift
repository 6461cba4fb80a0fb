/// A tenant's name, stamped on every record and used for quotas.
package struct Tenant: Sendable, Hashable, CustomStringConvertible {
    /// The maximum bytes of a name; the journal's encoding allows 255.
    package static let maxBytes = 64
    /// The tenant of a server that requires no credentials.
    package static let standard = Tenant(known: "default")

    /// 1 to 64 bytes of a-z, 0-9, `.`, `_` and `-`.
    package let name: String

    /// Creates a tenant; nil if the name breaks `rule`.
    package init?(_ name: String) {
        guard (1...Self.maxBytes).contains(name.utf8.count),
            name.utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        self.name = name
    }

    private init(known name: String) { self.name = name }

    /// The name.
    package var description: String { self.name }

    /// The rule for names, for error messages.
    package static let rule = "1 to 64 characters of a-z, 0-9, \".\", \"_\" and \"-\""

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
