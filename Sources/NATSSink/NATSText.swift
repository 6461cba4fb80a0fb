// Text for the C library: subjects and header values, with what must not stand in them escaped.
internal import TrackingCore

/// A text that grows by parts, and ends with a zero byte where it is read.
struct NATSText {
    private(set) var bytes: [UInt8] = []

    /// The text as a string.
    var text: String { String(decoding: self.bytes, as: UTF8.self) }

    init() {}

    /// A hit's id, in hexadecimal.
    init(hitID hit: Hit) { self.append(hitID: hit) }

    /// Clears the text, but keeps its capacity.
    mutating func clear() { self.bytes.removeAll(keepingCapacity: true) }

    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { self.bytes.append(contentsOf: $0) }
    }

    mutating func append(_ text: String) { self.bytes.append(contentsOf: text.utf8) }

    /// Appends a token of a subject: letters, digits, `-` and `_` stay, all else is
    /// percent-encoded. An empty token becomes `_`.
    mutating func append(token: Bytes) {
        if token.isEmpty { return self.append("_") }
        // A literal `_` must differ from an empty token.
        if token.count == 1, token[0] == UInt8(ascii: "_") { return self.append("%5F") }
        for byte in token { self.append(byte, isKept: Self.isInToken(byte)) }
    }

    /// Appends a header's value: printable ASCII except space, `"` and `%`, which are
    /// percent-encoded (CloudEvents' NATS binding 3.1.3.2). So it cannot contain a line break.
    mutating func append(value: Bytes) {
        for byte in value {
            let isKept = (0x21...0x7e).contains(byte) && byte != 0x22 && byte != 0x25
            self.append(byte, isKept: isKept)
        }
    }

    /// A hit's id, in hexadecimal.
    mutating func append(hitID hit: Hit) {
        for word in [hit.key.high, hit.key.low | UInt64(hit.kind.rawValue)] {
            for shift in stride(from: 60, through: 0, by: -4) {
                self.bytes.append(Self.digits[Int(word >> UInt64(shift) & 15)])
            }
        }
    }

    mutating func append(_ number: some FixedWidthInteger, digits: Int = 1) {
        let text = String(number)
        for _ in 0..<max(0, digits - text.utf8.count) { self.bytes.append(UInt8(ascii: "0")) }
        self.append(text)
    }

    /// Calls `body` with the text as a C string.
    mutating func withCString<Value>(
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
