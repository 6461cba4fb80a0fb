// The window's rows in the journal: 12 bytes per changed key, little-endian.
internal import TrackingCore

extension RecentHits {
    /// Bytes of one change in a row: high (8), low (2), marks (2).
    static let changeBytes = 12

    /// The row of a group's changes.
    static func row(of changes: [Change]) -> [UInt8] {
        var row: [UInt8] = []
        row.reserveCapacity(changes.count * Self.changeBytes)
        for change in changes {
            withUnsafeBytes(of: change.key.high.littleEndian) { row.append(contentsOf: $0) }
            withUnsafeBytes(
                of: (change.key.low.littleEndian, change.after.rawValue.littleEndian)
            ) { row.append(contentsOf: $0) }
        }
        return row
    }

    /// Remembers what a row holds, as when it was written.
    func restore(row: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + Self.changeBytes <= row.count {
            let high = UInt64(
                littleEndian: row.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let low = UInt16(
                littleEndian: row.loadUnaligned(fromByteOffset: offset + 8, as: UInt16.self))
            let marks = UInt16(
                littleEndian: row.loadUnaligned(fromByteOffset: offset + 10, as: UInt16.self))
            self.set(Marks(rawValue: marks), of: WindowKey(high: high, low: low))
            offset += Self.changeBytes
        }
    }
}
