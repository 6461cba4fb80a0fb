// Where keys go in the index of hit keys, whatever hashes clients choose.
@testable internal import SQLiteSink
internal import SinkTestSupport
internal import TestSupport
internal import Testing
internal import TrackingRules

struct IndexKeyTests {
    private static func secret(_ dice: inout Dice) throws -> IndexSecret {
        let bytes = (0..<3).map { _ in dice.next() }
        return try #require(bytes.withUnsafeBytes { IndexSecret($0) })
    }

    /// Keys whose hashes a client has chosen: each differs in few bits, at a place of its choice.
    static let choices: [(name: String, high: @Sendable (UInt64) -> UInt64)] = [
        ("equal upper bits", { 0xfeed << 48 | $0 }),
        ("equal lower bits", { $0 << 44 | 0xfeed }),
        ("equal distances", { $0 &* 0x9E37_79B9_7F4A_7C15 }),
        ("bits in the middle", { $0 << 22 }),
        ("bits at both ends", { ($0 & 0x7f) << 57 | $0 >> 7 }),
    ]

    @Test("chosen hashes do not pile up in the table", arguments: choices.indices)
    func table(choice: Int) throws {
        var dice = Dice(seed: 6)
        let high = Self.choices[choice].high
        for _ in 0..<10 {
            let secret = try Self.secret(&dice)
            let table = MemTable(capacity: 1 << 14)
            var probes = 0
            for number in 0..<UInt64(1) << 14 {
                let key = secret.key(HitKey(high: high(number), low: 0))
                _ = table.add(1, to: key, knownElsewhere: 0)
                probes += table.slot(of: key) - table.home(key.high)
            }
            // Random keys take half a step each in a table that is half full: 8,192.
            #expect(probes < 10_000, "\(probes) steps with \(Self.choices[choice].name)")
        }
    }

    @Test("chosen hashes do not pile up in a block of a filter", arguments: choices.indices)
    func blocks(choice: Int) throws {
        var dice = Dice(seed: 7)
        let high = Self.choices[choice].high
        let count = 1 << 14
        let blocks = BloomFilter.blockCount(entries: count, level: 2)
        for _ in 0..<10 {
            let secret = try Self.secret(&dice)
            var loads = [Int](repeating: 0, count: blocks)
            for number in 0..<UInt64(count) {
                let key = secret.key(HitKey(high: high(number), low: 0))
                loads[BloomFilter.block(of: key.high, among: blocks)] += 1
            }
            // 43 on average, with a deviation of 6.5.
            #expect((loads.max() ?? 0) < 80, "\(Self.choices[choice].name)")
        }
    }

    @Test("no two hashes become one key")
    func bijection() throws {
        var dice = Dice(seed: 8)
        let secret = try Self.secret(&dice)
        let hashes = (0..<100_000 as Range<UInt64>).map { $0 << 20 | $0 >> 3 }
        let keys = Set(hashes.map { secret.key(HitKey(high: $0, low: 0)) })
        #expect(keys.count == Set(hashes).count)
    }

    @Test("a key keeps the first 24 bits of a hash's second half")
    func low() throws {
        var dice = Dice(seed: 9)
        let secret = try Self.secret(&dice)
        let key = secret.key(HitKey(high: 5, low: 0xabcdef << 40 | 0xffff << 8))
        #expect(key.low == 0xabcdef)
    }

    @Test("a secret has 24 bytes")
    func secretLength() {
        for count in [0, 23, 25] {
            #expect([UInt8](repeating: 1, count: count).withUnsafeBytes { IndexSecret($0) } == nil)
        }
    }

    @Test("entries come back from their bytes, and the bytes sort like the keys")
    func entries() throws {
        let highs: [UInt64] = [0, 1, 255, 256, 1 << 63, .max]
        let lows: [UInt32] = [0, 1, 0x80_0000, 0xff_ffff]
        var all: [(key: IndexKey, bytes: [UInt8])] = []
        for high in highs {
            for low in lows {
                var bytes = [UInt8](repeating: 0xee, count: 14)
                let key = IndexKey(high: high, low: low)
                bytes.withUnsafeMutableBytes { bytes in
                    guard let base = bytes.baseAddress else { return }
                    IndexEntry.store(high: high, low: low, kinds: 0x8001, at: base)
                    #expect(IndexEntry.key(base) == key)
                    #expect(IndexEntry.kinds(base) == 0x8001)
                }
                #expect(bytes[13] == 0xee)
                all.append((key, bytes))
            }
        }
        #expect(all.map(\.key) == all.map(\.key).sorted())
        for (one, next) in zip(all, all.dropFirst()) {
            #expect(one.bytes.lexicographicallyPrecedes(next.bytes))
        }
    }

    @Test(
        "a filter finds what it has, and little else",
        arguments: [(0, 0.001), (1, 0.002), (2, 0.006), (5, 0.006)])
    func filter(level: Int, rate: Double) {
        var dice = Dice(seed: 10)
        let count = 50_000
        let blocks = BloomFilter.blockCount(entries: count, level: level)
        func words(_ key: IndexKey) -> Int {
            BloomFilter.block(of: key.high, among: blocks) * BloomFilter.wordsInBlock
        }
        func key(_ dice: inout Dice) -> IndexKey {
            IndexKey(high: dice.next(), low: UInt32(truncatingIfNeeded: dice.next() >> 40))
        }
        let memory = UnsafeMutablePointer<UInt64>.allocate(
            capacity: blocks * BloomFilter.wordsInBlock)
        memory.initialize(repeating: 0, count: blocks * BloomFilter.wordsInBlock)
        defer { memory.deallocate() }
        let keys = (0..<count).map { _ in key(&dice) }
        for key in keys { BloomFilter.set(BloomFilter.bits(of: key), in: memory + words(key)) }
        #expect(
            keys.allSatisfy { BloomFilter.holds(BloomFilter.bits(of: $0), memory + words($0)) == 1 }
        )
        var found = 0
        for _ in 0..<count {
            let other = key(&dice)
            found += Int(BloomFilter.holds(BloomFilter.bits(of: other), memory + words(other)))
        }
        #expect(Double(found) / Double(count) < rate)
    }
}
