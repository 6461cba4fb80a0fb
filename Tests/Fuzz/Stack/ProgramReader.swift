// Reads an input; zeros after its end.

/// The bytes of an input, in order.
struct ProgramReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { self.offset >= self.bytes.count }

    mutating func byte() -> UInt8 {
        guard self.offset < self.bytes.count else { return 0 }
        defer { self.offset += 1 }
        return self.bytes[self.offset]
    }

    /// The next bytes; fewer at the end, unless padded.
    mutating func raw(_ count: Int, orPad isPadded: Bool = false) -> [UInt8] {
        let end = min(self.offset + count, self.bytes.count)
        let taken = Array(self.bytes[self.offset..<end])
        self.offset = end
        return isPadded ? taken + Array(repeating: 0, count: count - taken.count) : taken
    }

    /// A count and that many bytes; a large count repeats the next byte up to 70,000 times.
    mutating func counted() -> [UInt8] {
        let count = Int(self.byte())
        guard count >= 0xF0 else { return self.raw(count) }
        let sizes = [256, 1024, 4096, 4097, 16_384, 16_385, 65_535, 70_000]
        return Array(repeating: self.byte(), count: sizes[count & 7])
    }

    /// A number: one byte selects an edge case, or four more follow.
    mutating func number() -> UInt32 {
        let byte = self.byte()
        let limits: [UInt32] = [
            0, 1, 2, 5, 100, 16_383, 16_384, 16_777_215, 16_777_216, 65_535, 65_536, 1 << 20,
            0x7FFF_FFFE, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
        ]
        if byte < 0x80 { return UInt32(byte) }
        if byte < 0xF0 { return limits[Int(byte) % limits.count] }
        return self.raw(4, orPad: true).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// A block of header fields.
    mutating func fields() -> [UInt8] {
        var block: [UInt8] = []
        for _ in 0..<self.byte() & 7 { block += self.field() }
        return block
    }

    private mutating func field() -> [UInt8] {
        let name = self.byte()
        // Anything: an index, a change of the table size, or invalid HPACK.
        if name >= 0xF0 { return name < 0xF8 ? [self.byte()] : self.counted() }
        let entry = FieldTable.entry(name)
        let value = self.byte()
        let text = value < 0xC0 ? entry.values[Int(value) % entry.values.count] : nil
        return Wire.field(entry.name, text ?? self.counted(), form: name >> 6)
    }
}
