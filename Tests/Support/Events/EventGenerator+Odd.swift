// What is odd on the wire: legal encodings that are seldom chosen, broken ones, and mutations.

extension EventGenerator {
    /// A field in an encoding that is legal (nearly always) and seldom seen.
    package mutating func odd(_ fields: [SchemaField], into writer: inout WireWriter) {
        let known = fields.isEmpty ? 1 : self.dice.pick(fields).number
        switch self.dice.below(8) {
        case 0:
            writer.tag(known, 0, length: 1 + self.dice.below(5))
            writer.varint(self.number(), length: 1 + self.dice.below(10))
        case 1:
            let body = self.string()
            writer.tag(known, 2, length: 1 + self.dice.below(5))
            writer.varint(UInt64(body.count), length: 1 + self.dice.below(10))
            writer.raw(body)
        case 2:
            writer.groups(known, depth: 1 + self.dice.below(4))
        case 3:
            writer.tag(known, 1)
            writer.raw([1, 2, 3, 4, 5, 6, 7, 8])
        case 4:
            writer.tag(known, 5)
            writer.raw([1, 2, 3, 4])
        case 5:
            writer.tag(77, 3)
            self.unknown(into: &writer)
            writer.groups(5, depth: 2)
            writer.tag(77, 4, length: 1 + self.dice.below(6))
        case 6 where self.dice.chance(20):
            // Each embedded message is a level, so the limit is met at several depths.
            writer.groups(9, depth: 94 + self.dice.below(6))
        default: self.unknown(into: &writer)
        }
    }

    /// A field that no schema knows, of any wire type.
    package mutating func unknown(into writer: inout WireWriter) {
        let number: UInt64 = self.dice.pick([8, 9, 14, 15, 16, 50, 2047, 2048, 536_870_911])
        switch self.dice.below(5) {
        case 0: writer.field(number, varint: self.number())
        case 1: writer.field(number, [0xff, 0xfe])
        case 2: writer.groups(number, depth: 1)
        case 3:
            writer.tag(number, 1)
            writer.raw([UInt8](repeating: 0xff, count: 8))
        default:
            writer.tag(number, 5)
            writer.raw([UInt8](repeating: 0xff, count: 4))
        }
    }

    /// Something that no reader takes, or only some: the two readers have to agree on which.
    package mutating func broken(into writer: inout WireWriter) {
        switch self.dice.below(11) {
        case 0:
            writer.tag(4, 0)
            writer.varint(1, length: 10 + self.dice.below(2))
        case 1:
            writer.tag(4, 0, length: 5 + self.dice.below(6))
            writer.varint(1)
        case 2: writer.tag(self.dice.pick([1, 10, 99]), 3)
        case 3: writer.tag(self.dice.pick([1, 10, 99]), 4)
        case 4:
            writer.tag(20, 3)
            writer.tag(21, 4)
        case 5: writer.groups(9, depth: 99 + self.dice.below(3))
        case 6: writer.tag(0, UInt32(self.dice.below(6)))
        case 7: writer.tag(self.dice.pick([1, 10, 99]), UInt32(6 + self.dice.below(2)))
        case 8:
            writer.tag(self.dice.pick([1, 3, 10, 99]), 2)
            writer.varint(
                self.dice.pick([
                    1000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 32, 1 << 63, .max,
                ]))
        case 9:
            writer.varint(self.dice.pick([0xffff_ffff, 0x1_0000_0008, 1 << 35, .max]))
            writer.varint(1)
        default: writer.field(self.dice.pick([1, 3, 5, 7, 10, 12]), [0xff])
        }
    }

    /// The bytes with some of them changed, wherever that hits.
    package mutating func mutated(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        for _ in 0...self.dice.below(3) {
            guard !bytes.isEmpty else { return [UInt8(self.dice.below(256))] }
            let place = self.dice.below(bytes.count)
            let end = place + self.dice.below(min(bytes.count - place, 12) + 1)
            switch self.dice.below(6) {
            case 0: bytes[place] ^= 1 << UInt8(self.dice.below(8))
            case 1: bytes[place] = UInt8(self.dice.below(256))
            case 2: bytes.removeLast(bytes.count - place)
            case 3: bytes.insert(UInt8(self.dice.below(256)), at: place)
            case 4: bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
            default: bytes.removeSubrange(place..<end)
            }
        }
        return bytes
    }
}
