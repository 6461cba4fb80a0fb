package import WireFormat

/// Bytes of text in the making, in memory of its own that is used again: emptied and filled anew,
/// it allocates only while a text is longer than all before it.
package struct TextBuffer: ~Copyable {
    /// Bytes behind the text that may be overwritten, so that words are copied whole.
    static let slack = 16

    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    /// The text's length in bytes.
    package private(set) var count = 0

    /// An empty text with memory for `capacity` bytes.
    package init(capacity: Int = 64 << 10) {
        self.capacity = capacity + Self.slack
        self.memory = .allocate(byteCount: self.capacity, alignment: 8)
    }

    deinit { self.memory.deallocate() }

    /// The text, valid until it changes.
    package var bytes: Bytes { Bytes(start: self.memory, count: self.count) }

    /// Shortens the text to its first `count` bytes.
    package mutating func truncate(to count: Int) {
        precondition((0...self.count).contains(count), "a text cannot be cut to more than it is")
        self.count = count
    }

    // MARK: Places

    /// A place in the text, with slack behind the text's end.
    @inline(__always)
    func place(_ offset: Int) -> UnsafeRawPointer { UnsafeRawPointer(self.memory) + offset }

    /// Makes room for `room` bytes and the slack, and gives the place behind the text.
    @inline(__always)
    mutating func end(room: Int) -> UnsafeMutableRawPointer {
        if self.capacity &- self.count < room &+ Self.slack { self.grow(room) }
        return self.memory + self.count
    }

    /// Counts bytes that were written behind the text as part of it.
    @inline(__always)
    mutating func advance(_ count: Int) { self.count &+= count }

    private mutating func grow(_ room: Int) {
        let capacity = max(self.capacity * 2, self.count + room + Self.slack)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        memory.copyMemory(from: self.memory, byteCount: self.count)
        self.memory.deallocate()
        (self.memory, self.capacity) = (memory, capacity)
    }

    // MARK: Bytes

    /// Appends a byte.
    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        self.end(room: 1).storeBytes(of: byte, as: UInt8.self)
        self.advance(1)
    }

    /// Appends bytes as they are.
    package mutating func append(_ bytes: Bytes) {
        guard let start = bytes.baseAddress else { return }
        self.end(room: bytes.count).copyMemory(from: start, byteCount: bytes.count)
        self.advance(bytes.count)
    }

    /// Appends a literal as it is.
    package mutating func append(_ literal: StaticString) {
        self.append(Bytes(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Appends again what stands in a part of the text.
    package mutating func append(again part: Range<Int>) {
        precondition(part.upperBound <= self.count, "the text ends before this part of it does")
        let end = self.end(room: part.count)
        end.copyMemory(from: self.memory + part.lowerBound, byteCount: part.count)
        self.advance(part.count)
    }

    /// Appends bytes with at least `slack` readable bytes behind them, without a call for the few
    /// that a name has.
    @inline(__always)
    mutating func append(padded source: UnsafeRawPointer, count: Int) {
        let end = self.end(room: count)
        var offset = 0
        while offset < count {
            let low = source.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let high = source.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self)
            end.storeBytes(of: low, toByteOffset: offset, as: UInt64.self)
            end.storeBytes(of: high, toByteOffset: offset &+ 8, as: UInt64.self)
            offset &+= 16
        }
        self.advance(count)
    }

    // MARK: Values

    /// Appends a number in decimal digits.
    package mutating func append(number: Int64) {
        if number < 0 { self.append(UInt8(ascii: "-")) }
        let magnitude = number.magnitude
        var (digits, bound) = (1, UInt64(10))
        // Ends before the bound overflows: no number has more than 19 digits.
        while digits < 19, magnitude >= bound { (digits, bound) = (digits &+ 1, bound &* 10) }
        Self.write(magnitude, digits: digits, to: self.end(room: digits))
        self.advance(digits)
    }

    /// Writes the last `digits` decimal digits of a number.
    @inline(__always)
    static func write(_ number: UInt64, digits: Int, to place: UnsafeMutableRawPointer) {
        var (rest, offset) = (number, digits)
        while offset > 0 {
            offset &-= 1
            let digit = UInt8(truncatingIfNeeded: rest % 10) &+ UInt8(ascii: "0")
            place.storeBytes(of: digit, toByteOffset: offset, as: UInt8.self)
            rest /= 10
        }
    }

    /// Appends bytes in base64 with padding (RFC 4648 section 4).
    package mutating func append(base64 bytes: Bytes) {
        let digits = Self.base64Digits.utf8Start
        let place = self.end(room: (bytes.count &+ 2) / 3 &* 4)
        var (offset, written) = (0, 0)
        while offset < bytes.count {
            let left = bytes.count &- offset
            let second = left > 1 ? UInt32(bytes[offset &+ 1]) : 0
            let third = left > 2 ? UInt32(bytes[offset &+ 2]) : 0
            let group = UInt32(bytes[offset]) << 16 | second << 8 | third
            let padding = UInt32(UInt8(ascii: "="))
            let four =
                UInt32(digits[Int(group >> 18)]) | UInt32(digits[Int(group >> 12 & 63)]) << 8
                | (left > 1 ? UInt32(digits[Int(group >> 6 & 63)]) : padding) << 16
                | (left > 2 ? UInt32(digits[Int(group & 63)]) : padding) << 24
            place.storeBytes(of: four.littleEndian, toByteOffset: written, as: UInt32.self)
            offset &+= 3
            written &+= 4
        }
        self.advance(written)
    }

    private static var base64Digits: StaticString {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    }
}
