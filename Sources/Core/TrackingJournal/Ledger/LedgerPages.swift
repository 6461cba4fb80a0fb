internal import CCRC32C
internal import WireFormat

/// Tracks which pages of the ledger a checkpoint has to write. A page has 32 rows in the order in
/// which they were added; they mostly are of the same time, so that few pages change.
package struct LedgerPages: Sendable {
    /// The rows of a page.
    static let rows = 32

    private var changed: Set<Int> = []
    /// Whether there may be stored pages behind the last one.
    private var isShorter = false

    /// Pages to be written, in one transaction with the sequence that they include.
    package struct Saved: Sendable {
        /// The changed pages by number, encoded: a CRC-32C (4), and of each row the count (8), the
        /// key's length (2) and the key.
        package let pages: [(number: Int, bytes: [UInt8])]
        /// The number of all pages: stored ones from it on are to be deleted.
        package let count: Int
        /// Whether there are such.
        package let isShorter: Bool

        /// Nothing to be written.
        package static let none = Saved(pages: [], count: 0, isShorter: false)

        /// Whether there is nothing to be written.
        package var isEmpty: Bool { self.pages.isEmpty && !self.isShorter }
    }

    var isChanged: Bool { !self.changed.isEmpty || self.isShorter }

    mutating func change(_ row: Int) { self.changed.insert(row / Self.rows) }

    mutating func changeAll(rows: Int) {
        self.changed = Set(0..<(rows + Self.rows - 1) / Self.rows)
        self.isShorter = true
    }

    mutating func take(rows: [Ledger.Row]) -> Saved {
        defer { (self.changed, self.isShorter) = ([], false) }
        // A page that was put back may not exist any more, if rows have expired since.
        let there = self.changed.filter { $0 * Self.rows < rows.count }
        let pages = there.sorted().map { number in
            let start = number * Self.rows
            return (number, Self.page(rows[start..<min(start + Self.rows, rows.count)]))
        }
        return Saved(
            pages: pages, count: (rows.count + Self.rows - 1) / Self.rows,
            isShorter: self.isShorter)
    }

    mutating func putBack(_ saved: Saved) {
        self.changed.formUnion(saved.pages.lazy.map(\.number))
        self.isShorter = self.isShorter || saved.isShorter
    }

    // MARK: A page's bytes

    private static func page(_ rows: ArraySlice<Ledger.Row>) -> [UInt8] {
        var bytes: [UInt8] = []
        for row in rows {
            withUnsafeBytes(of: row.count.littleEndian) { bytes.append(contentsOf: $0) }
            let length = UInt16(truncatingIfNeeded: row.key.bytes.count)
            withUnsafeBytes(of: length.littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: row.key.bytes)
        }
        return withUnsafeBytes(of: Self.checksum(bytes).littleEndian) { $0 + bytes }
    }

    /// The rows of a page; nil if it is damaged.
    static func rows(of page: Bytes) -> [(LedgerKey, UInt64)]? {
        guard page.count >= 4 else { return nil }
        let rest = Array(page[4...])
        let checksum = UInt32(
            littleEndian: page.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
        guard checksum == Self.checksum(rest) else { return nil }
        var rows: [(LedgerKey, UInt64)] = []
        var offset = 4
        while offset < page.count {
            guard page.count - offset > 10 else { return nil }
            let count = page.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let length = Int(
                UInt16(
                    littleEndian: page.loadUnaligned(fromByteOffset: offset + 8, as: UInt16.self)))
            guard page.count - offset - 10 >= length,
                let key = LedgerKey(
                    stored: Bytes(rebasing: page[offset + 10..<offset + 10 + length]))
            else { return nil }
            rows.append((key, UInt64(littleEndian: count)))
            offset += 10 + length
        }
        return rows
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { sightline_crc32c(0, $0.baseAddress, $0.count) }
    }
}
