// Text for a broker's C library: subjects, keys and header values, with what must not stand in them
// escaped.
internal import Glibc
package import TrackingRules
package import WireFormat

/// A text that grows by parts, and ends with a zero byte where it is read.
package struct MessageText: Sendable {
    /// The text, without a zero byte.
    package private(set) var bytes: [UInt8] = []

    /// The text as a string.
    package var text: String { String(decoding: self.bytes, as: UTF8.self) }

    /// An empty text.
    package init() {}

    /// A hit's id, in hexadecimal.
    package init(hitID hit: Hit) { self.append(hitID: hit) }

    /// Clears the text, but keeps its capacity.
    package mutating func clear() { self.bytes.removeAll(keepingCapacity: true) }

    /// Appends a literal as it is.
    package mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { self.bytes.append(contentsOf: $0) }
    }

    /// Appends a text as it is.
    package mutating func append(_ text: String) { self.bytes.append(contentsOf: text.utf8) }

    /// Appends a token of a subject: letters, digits, `-` and `_` stay, all else is
    /// percent-encoded. An empty token becomes `_`.
    package mutating func append(token: Bytes) {
        if token.isEmpty { return self.append("_") }
        // A literal `_` must differ from an empty token.
        if token.count == 1, token[0] == UInt8(ascii: "_") { return self.append("%5F") }
        for byte in token { self.append(byte, isKept: Self.isInToken(byte)) }
    }

    /// Appends a header's value: printable ASCII except space, `"` and `%`, which are
    /// percent-encoded (CloudEvents' NATS binding 3.1.3.2). So it cannot contain a line break.
    package mutating func append(value: Bytes) {
        for byte in value {
            let isKept = (0x21...0x7e).contains(byte) && byte != 0x22 && byte != 0x25
            self.append(byte, isKept: isKept)
        }
    }

    /// Appends a hit's id, in hexadecimal.
    package mutating func append(hitID hit: Hit) {
        for word in [hit.key.high, hit.key.low | UInt64(hit.kind.rawValue)] {
            for shift in stride(from: 60, through: 0, by: -4) {
                self.bytes.append(Self.digits[Int(word >> UInt64(shift) & 15)])
            }
        }
    }

    /// Appends a number, with zeros before it up to a number of digits.
    package mutating func append(_ number: some FixedWidthInteger, digits: Int = 1) {
        let text = String(number)
        for _ in 0..<max(0, digits - text.utf8.count) { self.bytes.append(UInt8(ascii: "0")) }
        self.append(text)
    }

    /// Appends a time as RFC 3339 text in UTC.
    ///
    /// - Parameter microseconds: since 1970.
    package mutating func append(time microseconds: Int64) {
        var seconds = time_t(microseconds / 1_000_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        self.append(Int(parts.tm_year) + 1900, digits: 4)
        self.append("-")
        self.append(parts.tm_mon + 1, digits: 2)
        self.append("-")
        self.append(parts.tm_mday, digits: 2)
        self.append("T")
        self.append(parts.tm_hour, digits: 2)
        self.append(":")
        self.append(parts.tm_min, digits: 2)
        self.append(":")
        self.append(parts.tm_sec, digits: 2)
        self.append(".")
        self.append(microseconds % 1_000_000, digits: 6)
        self.append("Z")
    }

    /// Calls `body` with the text as a C string.
    package mutating func withCString<Value>(
        _ body: (UnsafePointer<CChar>?) throws -> Value
    ) rethrows -> Value {
        self.bytes.append(0)
        defer { self.bytes.removeLast() }
        return try self.bytes.withUnsafeBytes {
            try body($0.baseAddress?.assumingMemoryBound(to: CChar.self))
        }
    }

    private mutating func append(_ byte: UInt8, isKept: Bool) {
        if isKept { return self.bytes.append(byte) }
        self.bytes.append(UInt8(ascii: "%"))
        self.bytes.append(Self.capitals[Int(byte >> 4)])
        self.bytes.append(Self.capitals[Int(byte & 15)])
    }

    private static let digits = [UInt8]("0123456789abcdef".utf8)
    private static let capitals = [UInt8]("0123456789ABCDEF".utf8)

    private static func isInToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
