// The window's changes in the journal: 12 bytes per key, little-endian. Bit 0 of the marks, which
// no hit uses, says that the key was new. Only new keys take a place in the window, so replaying
// the rows evicts the same keys in the same order.
internal import TrackingRules

extension DeduplicationWindow {
    /// The bytes of one change: high (8), low (2), marks (2).
    static let changeBytes = 12
    private static let isNew: UInt16 = 1

    /// Encodes a group's changes.
    static func row(of changes: [Change]) -> [UInt8] {
        let count = changes.count * Self.changeBytes
        // Stored in place: two appends for a change take 200 instructions.
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            let row = UnsafeMutableRawBufferPointer(buffer)
            for (index, change) in changes.enumerated() {
                let marks = change.after.rawValue | (change.isNew ? Self.isNew : 0)
                let key = change.key
                let offset = index * Self.changeBytes
                row.storeBytes(of: key.high.littleEndian, toByteOffset: offset, as: UInt64.self)
                row.storeBytes(of: key.low.littleEndian, toByteOffset: offset + 8, as: UInt16.self)
                row.storeBytes(of: marks.littleEndian, toByteOffset: offset + 10, as: UInt16.self)
            }
            initializedCount = count
        }
    }

    /// Replays a row's changes; returns the number of new keys.
    func restore(row: UnsafeRawBufferPointer) -> Int {
        var newKeys = 0
        var offset = 0
        while offset + Self.changeBytes <= row.count {
            let high = UInt64(
                littleEndian: row.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let low = UInt16(
                littleEndian: row.loadUnaligned(fromByteOffset: offset + 8, as: UInt16.self))
            let marks = UInt16(
                littleEndian: row.loadUnaligned(fromByteOffset: offset + 10, as: UInt16.self))
            let key = WindowKey(high: high, low: low)
            let isNew = marks & Self.isNew != 0
            // If a key's first row was dropped, the key was evicted: its later marks do not apply.
            if isNew || !self.marks(of: key).isEmpty {
                self.set(Marks(rawValue: marks & ~Self.isNew), of: key)
            }
            newKeys += isNew ? 1 : 0
            offset += Self.changeBytes
        }
        return newKeys
    }
}
