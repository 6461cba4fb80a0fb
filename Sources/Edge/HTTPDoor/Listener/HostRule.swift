internal import HTTPTypes

/// What may name the host of a request, in `Host` or `:authority`: a name or an address, and maybe
/// a port (RFC 3986, section 3.2). Of any other text two servers may read two hosts.
enum HostRule {
    /// The refusal of another text, and over HTTP/2 of two hosts.
    static let refusal = DoorResponse.problem(
        .badRequest,
        "a request names one host: a name or an address, and maybe a port (RFC 9110, section 7.2)")

    /// Whether a text has that form. The empty one has it, and names no host.
    static func isHost(_ text: String) -> Bool {
        let text = text.utf8
        guard text.first == UInt8(ascii: "[") else {
            let name = text.prefix { $0 != UInt8(ascii: ":") }
            return Self.isName(name) && Self.isPort(text[name.endIndex...])
        }
        guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return false }
        return Self.isAddress(text[..<end].dropFirst()) && Self.isPort(text[end...].dropFirst())
    }

    /// Whether a request of HTTP/2 names one host: by its authority, by `host`, or the same by both
    /// (RFC 9113, section 8.3.1). Several fields are one text with spaces here, which no host has.
    static func isOfOneHost(_ head: HTTPRequest) -> Bool {
        guard Self.isHost(head.authority ?? "") else { return false }
        guard let host = head.headerFields[named: "host"] else { return true }
        guard Self.isHost(host) else { return false }
        guard let authority = head.authority else { return true }
        let names = (DoorRequest.name(in: authority), DoorRequest.name(in: host))
        return names.0.utf8.elementsEqual(names.1.utf8)
    }

    /// The value of a field without white space behind it, which is no part of the value (RFC 9110,
    /// section 5.5); NIO's decoder leaves it there (swift-nio 2.101.2).
    static func value(_ field: String) -> String {
        var value = field[...]
        while let last = value.utf8.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") {
            value = Substring(value.utf8.dropLast())
        }
        return String(value)
    }

    /// A byte in lower case. ASCII alone: by Unicode the Kelvin sign would become a k.
    static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// A registered name, or an IPv4 address, which has the form of one.
    private static func isName(_ text: Substring.UTF8View) -> Bool {
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                continue
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap(PercentEncoding.value(ofHex:))
                guard digits.count == 2 else { return false }
                rest = rest.dropFirst(2)
            default:
                guard "-._~!$&'()*+,;=".utf8.contains(byte) else { return false }
            }
        }
        return true
    }

    /// An IPv6 address by its bytes: nothing else that stands in brackets has a colon.
    private static func isAddress(_ text: Substring.UTF8View) -> Bool {
        text.contains(UInt8(ascii: ":"))
            && text.allSatisfy { byte in
                PercentEncoding.value(ofHex: byte) != nil || byte == UInt8(ascii: ":")
                    || byte == UInt8(ascii: ".")
            }
    }

    /// Nothing, or a colon and digits, of which there may be none.
    private static func isPort(_ text: Substring.UTF8View) -> Bool {
        guard let colon = text.first else { return true }
        return colon == UInt8(ascii: ":")
            && text.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
