// What a start makes of the segments that earlier runs left.

/// Reads segments in any order, and says which records are still needed.
struct LogRecovery {
    private let checkpoint: CheckpointStore.Contents
    private var found: [FoundSegment] = []
    private var spares: [Segment] = []

    /// A segment with records that may be needed, and the keys of each that came after the
    /// checkpoint.
    private struct FoundSegment {
        let segment: Segment
        var records: [FoundRecord]
        let keys: [Int64: ArraySlice<UInt8>]

        var firstSequence: Int64 { self.records.first?.header.sequence ?? .max }
    }

    init(after checkpoint: CheckpointStore.Contents) { self.checkpoint = checkpoint }

    /// Reads one segment.
    mutating func read(_ segment: Segment) throws(SystemError) {
        let bytes = try segment.contents()
        let records = bytes.withUnsafeBytes { FoundRecord.all(in: $0) }
        guard let last = records.last?.header.sequence, last > self.checkpoint.deletedThrough else {
            self.spares.append(segment)
            return
        }
        var keys: [Int64: ArraySlice<UInt8>] = [:]
        for record in records where record.isWhole {
            guard record.header.sequence > self.checkpoint.keysThrough else { continue }
            let start = record.offset + RecordHeader.byteCount
            keys[record.header.sequence] =
                [UInt8](bytes[start..<start + record.header.keyBytes])[...]
        }
        self.found.append(FoundSegment(segment: segment, records: records, keys: keys))
    }

    /// Puts the segments in order, and makes sure that the last record is on disk.
    ///
    /// - Parameter onKeys: told the keys of each record that came after the checkpoint, in order.
    mutating func finish(
        onKeys: (Int64, ArraySlice<UInt8>) -> Void
    ) throws(SystemError) -> (segments: [Segment], spares: [Segment], rows: [StoredRow]) {
        self.found.sort { $0.firstSequence < $1.firstSequence }
        self.dropUnwritten()
        var rows: [StoredRow] = []
        var last = self.checkpoint.deletedThrough
        for found in self.found {
            found.segment.resume(after: found.records)
            for record in found.records where record.header.sequence > last {
                let header = record.header
                if header.sequence > last + 1 {
                    rows.append(Self.missing(through: header.sequence - 1, header.createTime))
                }
                last = header.sequence
                if let keys = found.keys[last] { onKeys(last, keys) }
                guard header.payloadBytes > 0 else { continue }
                rows.append(
                    StoredRow(
                        sequence: last, createTime: header.createTime, bytes: header.payloadBytes,
                        place: RecordPlace(segment: found.segment.number, offset: record.offset)))
            }
        }
        if last < self.checkpoint.keysThrough {
            rows.append(Self.missing(through: self.checkpoint.keysThrough, JournalWriter.now()))
        }
        if let newest = self.found.last, let record = newest.records.last,
            record.header.sequence > self.checkpoint.keysThrough
        {
            try newest.segment.rewrite(record)
        }
        return (self.found.map(\.segment), self.spares, rows)
    }

    /// Drops the last record where it is half there, and so was never acknowledged; unless a
    /// checkpoint knows of it.
    private mutating func dropUnwritten() {
        guard let newest = self.found.indices.last, let last = self.found[newest].records.last,
            !last.isWhole, last.header.sequence > self.checkpoint.keysThrough
        else { return }
        self.found[newest].records.removeLast()
        if self.found[newest].records.isEmpty {
            self.spares.append(self.found.removeLast().segment)
        }
    }

    /// Stands for the records up to a sequence that should be there and are not.
    private static func missing(through sequence: Int64, _ createTime: Int64) -> StoredRow {
        StoredRow(sequence: sequence, createTime: createTime, bytes: 0, place: nil)
    }
}
