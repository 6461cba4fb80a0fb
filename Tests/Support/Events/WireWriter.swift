// Writes protobuf's wire format with every freedom that it leaves, and some that it does not.

/// Bytes of a message in the making.
package struct WireWriter {
    /// What is written so far.
    package private(set) var bytes: [UInt8] = []

    /// An empty message.
    package init() {}

    /// Appends a varint, padded to `length` bytes where that is longer than it needs.
    package mutating func varint(_ value: UInt64, length: Int = 1) {
        var rest = value
        var count = 1
        while rest >= 0x80 || count < length {
            self.bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
            count += 1
        }
        self.bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a tag, padded to `length` bytes.
    package mutating func tag(_ field: UInt64, _ type: UInt32, length: Int = 1) {
        self.varint(field << 3 | UInt64(type), length: length)
    }

    /// Appends bytes as they are.
    package mutating func raw(_ bytes: [UInt8]) { self.bytes += bytes }

    /// Appends a field that holds a varint.
    package mutating func field(_ number: UInt64, varint value: UInt64) {
        self.tag(number, 0)
        self.varint(value)
    }

    /// Appends a field that holds bytes.
    package mutating func field(_ number: UInt64, _ body: [UInt8]) {
        self.tag(number, 2)
        self.varint(UInt64(body.count))
        self.bytes += body
    }

    /// Appends a field that holds a text.
    package mutating func field(_ number: UInt64, _ text: String) {
        self.field(number, Array(text.utf8))
    }

    /// Groups of one number, `depth` levels of them, all closed.
    package mutating func groups(_ number: UInt64, depth: Int) {
        for _ in 0..<depth { self.tag(number, 3) }
        for _ in 0..<depth { self.tag(number, 4) }
    }

    /// The bytes of a message that `fill` writes.
    package static func message(_ fill: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        fill(&writer)
        return writer.bytes
    }
}
