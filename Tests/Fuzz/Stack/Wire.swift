// HTTP/2 (RFC 9113) and HPACK (RFC 7541) as a client writes them, by hand: what our own code or
// NIO's would refuse to write has to be written too.

/// The bytes of frames and header fields.
enum Wire {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Kinds of frames (RFC 9113, section 6).
    enum Kind: UInt8 {
        case data, headers, priority, reset, settings, pushPromise, ping, goAway, window
        case continuation
    }

    static func frame(
        _ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8]
    ) -> [UInt8] {
        Self.header(kind.rawValue, flags: flags, stream: stream, length: payload.count) + payload
    }

    static func header(_ kind: UInt8, flags: UInt8, stream: UInt32, length: Int) -> [UInt8] {
        Self.bytes(UInt32(truncatingIfNeeded: length))[1...] + [kind, flags] + Self.bytes(stream)
    }

    /// In network order.
    static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// A literal field with a new name (RFC 7541, section 6.2): not indexed, indexed, or never
    /// indexed.
    static func field(_ name: [UInt8], _ value: [UInt8], form: UInt8 = 0) -> [UInt8] {
        let first: [UInt8] = [0x00, 0x40, 0x10, 0x00]
        return [first[Int(form & 3)]] + Self.string(name) + Self.string(value)
    }

    /// A string without Huffman's code (section 5.2).
    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
        var length: [UInt8] = [127]
        var rest = bytes.count - 127
        while rest >= 128 {
            length.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return length + [UInt8(rest)] + bytes
    }
}
