// The keys of the index, and their layout on disk.
internal import TrackingRules
internal import WireFormat

/// 88 bits of a HitKey, mixed with the database's secret. The index is in the order of these keys.
struct IndexKey: Hashable, Sendable {
    /// The first 64 bits, mixed with the database's secret.
    let high: UInt64
    /// The next 24 bits.
    let low: UInt32
}

extension IndexKey: Comparable {
    static func < (left: IndexKey, right: IndexKey) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }
}

/// A random secret of each database. A client can choose the first bits of a hash by trying inputs.
/// Since the bits are mixed with the secret, it cannot choose where a key goes, and so cannot fill
/// one slot of the MemTable or one block of a filter.
struct IndexSecret {
    static let byteCount = 24

    private let added: UInt64
    /// Both are odd, so that different hashes stay different.
    private let first: UInt64
    private let second: UInt64

    /// Reads a stored secret; nil unless it has 24 bytes.
    init?(_ bytes: Bytes) {
        guard bytes.count == Self.byteCount else { return nil }
        self.added = bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        self.first = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self) | 1
        self.second = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self) | 1
    }

    func key(_ key: HitKey) -> IndexKey {
        var mixed = key.high ^ self.added
        mixed ^= mixed &>> 32
        mixed &*= self.first
        mixed ^= mixed &>> 29
        mixed &*= self.second
        mixed ^= mixed &>> 32
        return IndexKey(high: mixed, low: UInt32(truncatingIfNeeded: key.low &>> 40))
    }
}

/// An entry on disk: a key and its kinds in 13 bytes. Big-endian, so that entries sort as bytes.
enum IndexEntry {
    static let byteCount = 13

    @inline(__always)
    static func high(_ entry: UnsafeRawPointer) -> UInt64 {
        UInt64(bigEndian: entry.loadUnaligned(as: UInt64.self))
    }

    @inline(__always)
    static func low(_ entry: UnsafeRawPointer) -> UInt32 {
        // The upper byte of these four is the last byte of `high`.
        UInt32(bigEndian: entry.loadUnaligned(fromByteOffset: 7, as: UInt32.self)) & 0xff_ffff
    }

    @inline(__always)
    static func kinds(_ entry: UnsafeRawPointer) -> UInt16 {
        UInt16(bigEndian: entry.loadUnaligned(fromByteOffset: 11, as: UInt16.self))
    }

    @inline(__always)
    static func key(_ entry: UnsafeRawPointer) -> IndexKey {
        IndexKey(high: Self.high(entry), low: Self.low(entry))
    }

    @inline(__always)
    static func store(high: UInt64, low: UInt32, kinds: UInt16, at entry: UnsafeMutableRawPointer) {
        entry.storeBytes(of: low.bigEndian, toByteOffset: 7, as: UInt32.self)
        entry.storeBytes(of: high.bigEndian, as: UInt64.self)
        entry.storeBytes(of: kinds.bigEndian, toByteOffset: 11, as: UInt16.self)
    }

    /// The kinds of a key in a page of sorted entries; 0 if it is absent.
    static func find(_ key: IndexKey, in page: Bytes) -> UInt16 {
        guard let base = page.baseAddress else { return 0 }
        var first = 0
        var last = page.count / Self.byteCount
        while first < last {
            let middle = (first &+ last) / 2
            let entry = base + middle &* Self.byteCount
            let found = Self.key(entry)
            if found == key { return Self.kinds(entry) }
            if found < key { first = middle &+ 1 } else { last = middle }
        }
        return 0
    }
}
