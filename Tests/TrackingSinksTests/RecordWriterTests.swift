// Records written from bytes, against those that SwiftProtobuf writes.
internal import TestSupport
internal import Testing
internal import TrackingCore
internal import TrackingSinks

struct RecordWriterTests {
    @Test("any hit: the record is SwiftProtobuf's byte for byte, and as long as it was said")
    func anyHit() throws {
        var generator = BatchGenerator(seed: Dice.runSeed)
        var writer = RecordWriter()
        var (written, refused) = (0, 0)
        for _ in 0..<500 {
            try generator.batch(events: 8).forEach { _, hit in
                let expected = try? hit.recordBytes()
                let size = try? writer.prepare(hit)
                #expect(size == expected?.count, "seed \(Dice.runSeed)")
                guard expected != nil else { return refused += 1 }
                var bytes: [UInt8] = []
                writer.append(hit, to: &bytes)
                #expect(bytes == expected, "seed \(Dice.runSeed)")
                written += 1
            }
            writer.endBatch()
        }
        #expect(written > 1000 && refused > 100, "\(written) written, \(refused) refused")
    }

    @Test("a varint is as long as it is said to be", arguments: [0, 1, 127, 128, 16_383, 16_384])
    func varints(value: UInt64) {
        for value in [value, value << 40 | 1, .max - value] {
            var bytes: [UInt8] = []
            bytes.appendVarint(value)
            #expect(bytes.count == value.varintCount)
        }
    }
}
