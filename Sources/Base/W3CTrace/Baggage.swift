/// A W3C `baggage` header (w3.org/TR/baggage), propagated unchanged within its limits and never
/// interpreted.
package struct Baggage: Sendable, Equatable {
    /// The header's value to propagate.
    package let header: String

    /// The maximum number of members that are propagated.
    package static let maxMembers = 64
    /// The maximum number of bytes that are propagated.
    package static let maxBytes = 8192

    /// Parses a header; nil if it is empty or malformed. A list over a limit is truncated at a
    /// member boundary.
    package init?(header: String) {
        var kept: [Substring.UTF8View] = []
        var bytes = 0
        for member in header.utf8.split(separator: UInt8(ascii: ",")) {
            let member = Self.trimmed(member)
            if member.isEmpty { continue }
            guard Self.isMember(member) else { return nil }
            // One byte for the comma before it.
            let count = member.count + (kept.isEmpty ? 0 : 1)
            guard kept.count < Self.maxMembers, count <= Self.maxBytes - bytes else { break }
            bytes += count
            kept.append(member)
        }
        guard !kept.isEmpty else { return nil }
        self.header = kept.map { String(Substring($0)) }.joined(separator: ",")
    }

    /// `key = value`, then properties, each a key or `key = value` after a semicolon.
    private static func isMember(_ member: Substring.UTF8View) -> Bool {
        let parts = member.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard let first = parts.first, first.contains(UInt8(ascii: "=")) else { return false }
        return parts.allSatisfy { part in
            let pair = part.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let (key, value) = (Self.trimmed(pair[0]), pair.count > 1 ? Self.trimmed(pair[1]) : nil)
            return !key.isEmpty && key.allSatisfy(Self.isKeyByte)
                && (value?.allSatisfy(Self.isValueByte) ?? true)
        }
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }

    /// A token of RFC 7230.
    private static func isKeyByte(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// Printable ASCII without space, quote, comma, semicolon and backslash.
    private static func isValueByte(_ byte: UInt8) -> Bool {
        (0x21...0x7e).contains(byte) && !"\",;\\".utf8.contains(byte)
    }
}
