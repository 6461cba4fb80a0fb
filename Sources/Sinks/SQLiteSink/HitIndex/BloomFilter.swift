/// The layout of a run's Bloom filter. All bits of a key are in one block of 64 bytes, so that a
/// lookup costs one cache miss. Bit n of a block is bit n & 7 of its byte n >> 3.
///
/// The number of a key's block rises with the key. A run is written in the order of keys, so its
/// filter is written in order as well: a block is complete once a key of the next one comes.
enum BloomFilter {
    static let blockBytes = 64
    static let wordsInBlock = 8

    /// The number of blocks for a number of entries.
    ///
    /// Small runs get more bits: they hold a small share of all entries, but they are as many as
    /// the large ones, and each of them may give a lookup a false positive. The rates are 0.05 %
    /// at level 0, 0.13 % at level 1, and 0.5 % above.
    static func blockCount(entries: Int, level: Int) -> Int {
        let bits = level == 0 ? 20 : level == 1 ? 16 : 12
        return max(1, (entries * bits + blockBytes * 8 - 1) / (blockBytes * 8))
    }

    /// The number of a key's block among `blocks`.
    @inline(__always)
    static func block(of high: UInt64, among blocks: Int) -> Int {
        Int(
            truncatingIfNeeded:
                high.multipliedFullWidth(by: UInt64(truncatingIfNeeded: blocks)).high)
    }

    /// The six bits of a key in its block, as numbers of 9 bits each.
    @inline(__always)
    static func bits(of key: IndexKey) -> UInt64 {
        // Leaves out the upper 24 bits, which keys of a block may have in common.
        var bits = key.high &<< 24 | UInt64(key.low)
        bits ^= bits &>> 32
        bits &*= 0x9E37_79B9_7F4A_7C15
        return bits ^ bits &>> 29
    }

    @inline(__always)
    static func set(_ bits: UInt64, in block: UnsafeMutablePointer<UInt64>) {
        var bits = bits
        for _ in 0..<6 {
            block[Int(truncatingIfNeeded: bits &>> 6 & 7)] |= 1 &<< (bits & 63)
            bits &>>= 9
        }
    }

    /// 1 if all bits are set, else 0: a number rather than a Bool, for code without branches.
    @inline(__always)
    static func holds(_ bits: UInt64, _ block: UnsafePointer<UInt64>) -> UInt64 {
        var held = block[Int(truncatingIfNeeded: bits &>> 6 & 7)] &>> (bits & 63)
        held &= block[Int(truncatingIfNeeded: bits &>> 15 & 7)] &>> (bits &>> 9 & 63)
        held &= block[Int(truncatingIfNeeded: bits &>> 24 & 7)] &>> (bits &>> 18 & 63)
        held &= block[Int(truncatingIfNeeded: bits &>> 33 & 7)] &>> (bits &>> 27 & 63)
        held &= block[Int(truncatingIfNeeded: bits &>> 42 & 7)] &>> (bits &>> 36 & 63)
        held &= block[Int(truncatingIfNeeded: bits &>> 51 & 7)] &>> (bits &>> 45 & 63)
        return held & 1
    }
}
