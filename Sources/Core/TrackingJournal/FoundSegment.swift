internal import Storage
internal import TrackingRules
internal import WireFormat

/// A segment's file as read at startup: its records, and what those after the checkpoint change.
struct FoundSegment {
    let segment: Segment
    var records: [FoundRecord]
    let changes: [Int64: RecordChanges]
    /// The number of hits in each whole record that is still needed, by sequence.
    let hitCounts: [Int64: Int]
    /// Sequences of records whose body the disk failed to read. They may hold acknowledged events.
    let unreadableBodies: Set<Int64>
    /// Whether the bytes after the last record could not be read and may hold another one.
    let mayHoldMore: Bool

    /// The newest record's sequence; 0 if there is none.
    var lastSequence: Int64 { self.records.last?.header.sequence ?? 0 }

    /// Reads a segment's file.
    ///
    /// - Throws: `JournalError.format` if the file is no segment of this format, `.failed` if it
    ///   cannot be read at all.
    init(_ segment: Segment, after checkpoint: CheckpointStore.Contents) throws(JournalError) {
        let contents: SegmentContents
        do throws(SystemError) {
            contents = try segment.contents()
        } catch {
            throw .failed(reason: "cannot read what earlier runs left: \(error)")
        }
        let reading = try Self.reading(contents, segment, after: checkpoint.releasedThrough)
        let records = reading.records
        self.segment = segment
        self.records = records
        self.changes = Self.changes(of: records, in: contents.bytes, after: checkpoint.keysThrough)
        self.hitCounts = Self.hitCounts(
            of: records, in: contents.bytes, after: checkpoint.releasedThrough)
        self.unreadableBodies = Set(
            records.lazy.filter { contents.isUnreadable($0.offset..<$0.endOffset) }
                .map(\.header.sequence))
        let end = records.last?.endOffset ?? SegmentHeader.byteCount
        // Without a readable first record, no later one would be found: check only where it begins.
        let isEmpty = records.isEmpty
        self.mayHoldMore = contents.isUnreadable(
            end..<(isEmpty ? end + RecordHeader.byteCount : max(end, contents.bytes.count)))
        segment.isDamaged =
            reading.isDamaged || !contents.unreadable.isEmpty
            || Self.hasGap(records)
    }

    private struct Reading {
        var records: [FoundRecord] = []
        var isDamaged = false
    }

    private static func reading(
        _ contents: SegmentContents, _ segment: Segment, after sequence: Int64
    ) throws(JournalError) -> Reading {
        let page = contents.bytes.prefix(SegmentHeader.byteCount)
        // An unreadable page does not prove that the file is another program's.
        let start =
            contents.isUnreadable(0..<page.count)
            ? SegmentStart.segment(salts: [], isWhole: false) : SegmentStart(page)
        return switch start {
        case .blank:
            contents.bytes.withUnsafeBytes { Self.records(in: $0, salts: [], after: sequence) }
        case .segment(let salts, let isWhole):
            contents.bytes.withUnsafeBytes { bytes in
                var reading = Self.records(in: bytes, salts: salts, after: sequence)
                // Two salts result from a crash between the copies, and a short page from one
                // before its end.
                let isTorn = Set(salts).count == 2 || bytes.count < SegmentHeader.byteCount
                reading.isDamaged = reading.isDamaged || !isWhole && !isTorn
                return reading
            }
        case .other(let found):
            throw .format(
                FileFormatError(path: segment.path, found, known: SegmentHeader.format))
        }
    }

    /// The records with one of the salts; without salts, those with the first record's salt.
    private static func records(
        in bytes: UnsafeRawBufferPointer, salts: [UInt64], after sequence: Int64
    ) -> Reading {
        var reading = Reading()
        let start = SegmentHeader.byteCount
        let first = FoundRecord(at: start, in: bytes)
        var candidates = salts
        if let first, first.header.sequence > sequence { candidates.append(first.header.salt) }
        for salt in candidates {
            let records = FoundRecord.all(in: bytes, from: start, salt: salt)
            guard let last = records.last, last.header.sequence > sequence else { continue }
            reading.records = records
            return reading
        }
        // No record is needed. A healthy file has an old record, or zeros, where its first one was.
        let head = bytes.dropFirst(start).prefix(RecordHeader.byteCount)
        reading.isDamaged = first == nil && head.contains { $0 != 0 }
        return reading
    }

    /// Whether there are bytes between records that belong to none, or an incomplete record is
    /// followed by others.
    private static func hasGap(_ records: [FoundRecord]) -> Bool {
        var end = SegmentHeader.byteCount
        for record in records {
            if record.offset != end { return true }
            end = record.endOffset
        }
        return records.dropLast().contains { !$0.isWhole }
    }

    private static func hitCounts(
        of records: [FoundRecord], in bytes: [UInt8], after sequence: Int64
    ) -> [Int64: Int] {
        var counts: [Int64: Int] = [:]
        for record in records where record.isWhole && record.header.sequence > sequence {
            let payload = record.endOffset - record.header.payloadBytes..<record.endOffset
            counts[record.header.sequence] = bytes.withUnsafeBytes {
                HitEncoding.hitCount(in: Bytes(rebasing: $0[payload]))
            }
        }
        return counts
    }

    private static func changes(
        of records: [FoundRecord], in bytes: [UInt8], after sequence: Int64
    ) -> [Int64: RecordChanges] {
        var changes: [Int64: RecordChanges] = [:]
        for record in records where record.isWhole && record.header.sequence > sequence {
            let start = record.offset + RecordHeader.byteCount
            changes[record.header.sequence] = RecordChanges(
                Array(bytes[start..<start + record.header.keyBytes]),
                hasLedger: record.header.hasLedger)
        }
        return changes
    }
}
