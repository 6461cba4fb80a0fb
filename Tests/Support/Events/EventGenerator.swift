// Generates TrackingEvents in wire bytes: plain ones, odd but legal ones, and broken ones.

/// Makes events by the schema. Repeated fields, repeated embedded messages and oneof switches come
/// by themselves, since every field is drawn anew from the whole message.
package struct EventGenerator {
    /// Where its chances come from.
    package var dice: Dice
    /// Of a hundred fields, how many are written in an odd but legal way.
    private var oddPercent = 0
    /// Of a hundred fields, how many are written in a way that a reader has to refuse.
    private var brokenPercent = 0
    /// Whether fields come in the order of their numbers, and each of them once.
    private var isOrderly = false

    /// A generator of this seed.
    package init(seed: UInt64) { self.dice = Dice(seed: seed) }

    /// One event's bytes.
    package mutating func event() -> [UInt8] {
        (self.oddPercent, self.brokenPercent) = (0, 0)
        switch self.dice.below(10) {
        case 0, 1: return self.protoEvent()
        case 2: break
        case 3, 4, 5: self.oddPercent = 15
        case 6: self.brokenPercent = 8
        case 7: (self.oddPercent, self.brokenPercent) = (10, 8)
        case 8:
            self.oddPercent = 10
            return self.mutated(self.message(EventSchema.event))
        default: return self.mutated(self.protoEvent())
        }
        let event = self.message(EventSchema.event)
        return self.dice.chance(8) ? event + self.message(EventSchema.event) : event
    }

    /// One event with its fields in order, as protobuf libraries write them, though more often with
    /// unknown ones and with several members of a oneof.
    package mutating func orderlyEvent() -> [UInt8] {
        (self.oddPercent, self.brokenPercent, self.isOrderly) = (0, 0, true)
        defer { self.isOrderly = false }
        return self.message(EventSchema.event)
    }

    // MARK: Messages

    private mutating func message(_ fields: [SchemaField]) -> [UInt8] {
        var writer = WireWriter()
        if self.isOrderly {
            self.orderly(fields, into: &writer)
            return writer.bytes
        }
        for _ in 0..<self.dice.below(7) {
            if self.dice.chance(self.oddPercent) {
                self.odd(fields, into: &writer)
            } else if self.dice.chance(self.brokenPercent) {
                self.broken(into: &writer)
            } else if !fields.isEmpty {
                self.field(self.dice.pick(fields), into: &writer)
            }
        }
        return writer.bytes
    }

    private mutating func orderly(_ fields: [SchemaField], into writer: inout WireWriter) {
        guard !fields.isEmpty else { return }
        let picked = (0..<self.dice.below(9)).map { _ in self.dice.pick(fields) }
        var last: UInt64 = 0
        for field in picked.sorted(by: { $0.number < $1.number }) {
            if self.dice.chance(3) { self.unknown(into: &writer) }
            if case .map = field.form {} else if field.number == last { continue }
            last = field.number
            self.field(field, into: &writer)
        }
    }

    private mutating func field(_ field: SchemaField, into writer: inout WireWriter) {
        switch field.form {
        case .number: writer.field(field.number, varint: self.number())
        case .string: writer.field(field.number, self.string())
        case .bytes:
            let isText = !self.dice.chance(10)
            writer.field(
                field.number, isText ? self.string() : self.dice.pick(Self.invalidUTF8))
        case .message(let fields): writer.field(field.number, self.message(fields))
        case .map: writer.field(field.number, self.mapEntry())
        }
    }

    private mutating func mapEntry() -> [UInt8] {
        var writer = WireWriter()
        if self.dice.chance(self.oddPercent + self.brokenPercent) {
            self.oddMapEntry(into: &writer)
            return writer.bytes
        }
        // Few keys, so that entries often meet again.
        if !self.dice.chance(5) { writer.field(1, self.dice.pick(Self.keys)) }
        if !self.dice.chance(5) { writer.field(2, self.string()) }
        return writer.bytes
    }

    private mutating func oddMapEntry(into writer: inout WireWriter) {
        for _ in 0...self.dice.below(4) {
            let number = UInt64(1 + self.dice.below(3))
            switch self.dice.below(7) {
            case 0: writer.field(number, varint: self.number())
            // SwiftProtobuf, which tests compare with, takes two spellings of a key for one.
            case 1 where number == 1: writer.field(number, self.dice.pick(Self.keys))
            case 1: writer.field(number, self.string())
            case 2: writer.groups(number, depth: 1 + self.dice.below(3))
            case 3:
                // A key or value of a wrong wire type, then bytes that may be read as a tag.
                writer.tag(number, UInt32(self.dice.below(8)))
                writer.raw(self.dice.pick([[], [0x0a, 0x01, 0x61], [0x12, 0x00], [0x18, 0x01]]))
            case 4:
                writer.tag(number, 2, length: 1 + self.dice.below(11))
                writer.varint(1, length: 1 + self.dice.below(10))
                writer.raw([0x7a])
            case 5: self.unknown(into: &writer)
            default: writer.groups(number, depth: self.dice.pick([95, 96, 97, 98, 99, 100, 101]))
            }
        }
    }

    // MARK: Values

    /// A number of any size, mostly a small one.
    package mutating func number() -> UInt64 {
        switch self.dice.below(10) {
        case 0: UInt64.max
        case 1: UInt64(bitPattern: Int64(-2))
        case 2: UInt64(1 << 32 + 1)
        case 3: UInt64(Int32.max)
        case 4: self.dice.next() >> UInt64(self.dice.below(64))
        default: UInt64(self.dice.below(9))
        }
    }

    /// A text in UTF-8, often one that a rule looks for.
    package mutating func string() -> [UInt8] {
        if self.dice.chance(self.brokenPercent) { return self.dice.pick(Self.invalidUTF8) }
        switch self.dice.below(12) {
        case 0: return []
        case 1: return Array("on".utf8)
        case 2: return Array("off".utf8)
        case 3: return Array("h138a".utf8)
        case 4:
            let start = [UInt8](repeating: 0x61, count: self.dice.below(18))
            return start + Array(self.dice.pick(["ü", "日本", "👍", "\u{10ffff}", "\0"]).utf8)
        case 5, 6:
            let start = [UInt8](repeating: 0x61, count: self.dice.below(18))
            return start + Array((self.dice.pick(Self.escapes) + self.dice.pick(Self.escapes)).utf8)
        case 7 where self.dice.chance(10):
            return [UInt8](repeating: 0x62, count: self.dice.pick([64, 65, 127, 128, 1025]))
        default: return (0..<self.dice.below(12)).map { 0x61 + UInt8($0) }
        }
    }

    private static let keys = [
        "a", "b", "c", "d", "e", "f", "a", "b", "c", "d", "ab", "A", "a key", "z\u{1}", "\u{e9}",
    ]

    /// What JSON escapes, and what looks as if it should.
    private static let escapes = [
        "\"", "\\", "/", "\u{8}\t\n\u{c}\r", "\0", "\u{1f} ", "\u{7f}", "\u{80}", "\u{9f}\u{a0}",
        "\u{2028}\u{2029}", "\u{e9}", "e\u{301}", "\u{feff}", "</script>", "👩‍👧", "\u{c2}\u{85}",
        "plain text",
    ]

    private static let invalidUTF8: [[UInt8]] = [
        [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82],
        [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x80], [0xf5, 0x80, 0x80, 0x80], [0x80],
        [0xe0, 0x80, 0x80], [0xf0, 0x82, 0x82, 0xac], [0xc3],
    ]
}
