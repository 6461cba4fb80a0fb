// Fuzzes recovery of segments. The first bytes of an input describe a segment's records; the rest
// overwrites parts of it, as disk damage would. Records that are found must have been written, in
// order, and undamaged records must be found if nothing before them is damaged.

@testable internal import TrackingJournal

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzFoundRecord(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = SegmentInput(UnsafeBufferPointer(start: data, count: count))
    var segment = Segment(&input)
    segment.check(isSound: true)
    segment.damage(&input)
    segment.check(isSound: false)
    // Arbitrary bytes instead of a segment.
    Segment(bytes: input.rest).check(isSound: false)
    return 0
}

/// Reads an input byte by byte; zeros after its end.
private struct SegmentInput {
    private var bytes: UnsafeBufferPointer<UInt8>.SubSequence

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes[...] }

    var isEmpty: Bool { self.bytes.isEmpty }
    var rest: [UInt8] { Array(self.bytes) }

    mutating func byte() -> UInt8 { self.bytes.popFirst() ?? 0 }

    mutating func take(_ count: Int) -> [UInt8] {
        defer { self.bytes = self.bytes.dropFirst(count) }
        return Array(self.bytes.prefix(count))
    }
}

private struct Segment {
    private var bytes: [UInt8] = []
    /// The ranges and sequences of the written records.
    private var written: [(range: Range<Int>, sequence: Int64)] = []
    private var firstDamage = Int.max
    /// Odd, as a segment's is.
    private var salt: UInt64 = 1

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// A segment of up to 7 records, followed by remains of an older one.
    init(_ input: inout SegmentInput) {
        let salt = UInt64(input.byte()) << 8 | 0x7361_6c74_0000_0001
        self.salt = salt
        var sequence = Int64(input.byte())
        for _ in 0..<input.byte() & 7 {
            let keys = input.take(Int(input.byte() & 0x1f))
            let payload = input.take(Int(input.byte()))
            sequence += 1 + Int64(input.byte() & 1)
            let record = Record(
                sequence: sequence, createTime: 1, eventCount: 1, eventTotal: 1, keys: keys,
                payload: payload)
            let start = self.bytes.count
            self.bytes += record.header(salt: salt).encoded() + keys + payload
            self.written.append((start..<self.bytes.count, sequence))
        }
        self.bytes += Array(repeating: 0, count: Int(input.byte()))
    }

    /// Overwrites, cuts or repeats bytes.
    mutating func damage(_ input: inout SegmentInput) {
        for _ in 0..<input.byte() & 7 where !self.bytes.isEmpty {
            let kind = input.byte()
            let place = (Int(input.byte()) << 8 | Int(input.byte())) % self.bytes.count
            switch kind & 3 {
            case 0: self.bytes[place] ^= 1 << (kind >> 5)
            case 1: self.bytes.removeLast(self.bytes.count - place)
            case 2:
                for (offset, byte) in input.take(Int(kind >> 2)).enumerated()
                where place + offset < self.bytes.count {
                    self.bytes[place + offset] = byte
                }
            default: self.bytes += self.bytes[place...]
            }
            // Repeated bytes are appended after all records.
            if kind & 3 != 3 { self.firstDamage = min(self.firstDamage, place) }
        }
    }

    func check(isSound: Bool) {
        self.bytes.withUnsafeBytes { bytes in
            let found = FoundRecord.all(in: bytes, from: 0, salt: self.salt)
            var end = 0
            var sequence = Int64.min
            for record in found {
                require(record.offset >= end, "records lie over each other")
                require(record.header.sequence > sequence, "sequences do not rise")
                (end, sequence) = (record.offset + RecordHeader.byteCount, record.header.sequence)
                require(end <= bytes.count, "a header beyond the end")
                require(
                    record.header.encoded().elementsEqual(bytes[record.offset..<end]),
                    "a header that is not what stands there")
                require(
                    !record.isWhole || record.offset + record.header.recordBytes <= bytes.count,
                    "a whole record beyond the end")
            }
            self.demandUntouched(in: found)
            if isSound { require(found.count == self.written.count, "\(found.count) are found") }
        }
    }

    private func demandUntouched(in found: [FoundRecord]) {
        for (place, record) in self.written.enumerated()
        where record.range.upperBound <= self.firstDamage {
            require(
                place < found.count && found[place].offset == record.range.lowerBound
                    && found[place].header.sequence == record.sequence && found[place].isWhole,
                "the record at byte \(record.range.lowerBound) is not found, or not whole")
        }
    }
}
