// The log: what makes a group durable is one write and one fdatasync of a file that is already as
// long as it gets. A file of our own and not SQLite's: a commit there writes whole pages of a tree,
// four times the payload where groups are small.
internal import DequeModule

/// Segments in the order of their records, and some to be used again. Touched on the journal's
/// queue alone.
final class JournalLog {
    private let directory: any Directory
    private let machine: Machine
    private let configuration: Journal.Configuration
    /// Records are appended to the last one.
    private var segments: Deque<Segment> = []
    /// Segments whose records nobody needs: to write over them costs less than to make a file
    /// longer, by the metadata of the file system.
    private var spares: [Segment] = []
    private var lastNumber = 0
    /// What is known of rows that have no place.
    private var losses: [Int64: LostRecords] = [:]

    /// Space for the checkpoint that frees segments on a full disk, and a descriptor for a segment.
    private var ballast: (any OpenFile)?

    /// Spares that are kept; what a burst needed beyond them goes.
    private static let maxSpares = 4
    private static let ballastBytes = 1 << 20
    private static let ballastName = "ballast"
    private static let damagedSuffix = ".damaged"
    /// Files that are kept aside; the oldest go first.
    static let maxAside = 16

    /// Why a record was not appended.
    enum Failure: Error {
        /// There is no room; the log is as it was.
        case noRoom
        /// The disk failed.
        case failed(reason: String)
    }

    /// A log that has yet to be recovered, in a directory that is made where it is missing.
    ///
    /// - Throws: `JournalError.unusable` where it cannot be made.
    init(
        directory: String, configuration: Journal.Configuration, machine: Machine
    ) throws(JournalError) {
        do throws(SystemError) {
            self.directory = try machine.files.directory(directory)
        } catch {
            throw .unusable(path: directory, reason: "\(error)")
        }
        self.machine = machine
        self.configuration = configuration
    }

    // MARK: Appending

    /// Appends a record, and returns its place once that is on disk.
    func append(_ record: Record) throws(Failure) -> RecordPlace {
        do throws(SystemError) {
            if let place = try self.appendToCurrent(record) { return place }
            return try self.appendToNext(record)
        } catch {
            throw error.isNoRoom ? .noRoom : .failed(reason: "\(error)")
        }
    }

    /// Appends a record to the last segment; nil where that is full, or the disk is and there is a
    /// spare, which may have its space already.
    private func appendToCurrent(_ record: Record) throws(SystemError) -> RecordPlace? {
        guard let current = self.segments.last, !current.isSealed,
            current.recordBytes + record.byteCount <= self.configuration.segmentBytes
        else { return nil }
        do throws(SystemError) {
            return try self.append(record, to: current)
        } catch {
            guard error.isNoRoom, !self.spares.isEmpty else { throw error }
            return nil
        }
    }

    private func append(_ record: Record, to segment: Segment) throws(SystemError) -> RecordPlace {
        // What a checkpoint was given must not be taken by the next record.
        if self.ballast == nil, !segment.hasSpace(for: record) { try self.takeBallast() }
        return try segment.append(record)
    }

    private func appendToNext(_ record: Record) throws(SystemError) -> RecordPlace {
        let next = try self.takeSpare()
        do throws(SystemError) {
            let place = try self.append(record, to: next)
            self.segments.append(next)
            return place
        } catch {
            self.spares.append(next)
            throw error
        }
    }

    /// An empty segment: a spare where there is one, or else a new file.
    private func takeSpare() throws(SystemError) -> Segment {
        if let spare = self.spares.popLast() {
            spare.clear()
            return spare
        }
        do throws(SystemError) {
            return try self.newSegment()
        } catch {
            guard error.isNoDescriptor, self.ballast != nil else { throw error }
            self.ballast = nil
            return try self.newSegment()
        }
    }

    private func newSegment() throws(SystemError) -> Segment {
        let segment = try self.segment(self.lastNumber + 1)
        try self.directory.sync()
        self.lastNumber += 1
        return segment
    }

    private func segment(_ number: Int) throws(SystemError) -> Segment {
        try Segment(
            number: number, in: self.directory, machine: self.machine,
            program: self.configuration.program)
    }

    // MARK: Reading

    /// The row's batch, read from its segment. What the disk cannot give is a damaged batch.
    func batch(_ row: StoredRow) throws(SystemError) -> JournalBatch {
        guard let place = row.place,
            let segment = self.segments.first(where: { $0.number == place.segment })
        else { return self.damaged(row, payload: []) }
        do throws(SystemError) {
            let record = try self.record(row, at: place, in: segment)
            let found = record.withUnsafeBytes { FoundRecord(at: 0, in: $0) }
            let payload = Array(record.suffix(row.bytes))
            if found?.isWhole == true, found?.header.sequence == row.sequence {
                return JournalBatch(
                    sequence: row.sequence, eventCount: Int(row.eventCount), payload: payload)
            }
            segment.isDamaged = true
            return self.damaged(row, payload: payload)
        } catch {
            guard error.isUnreadable else { throw error }
            segment.isDamaged = true
            return self.damaged(row, payload: [])
        }
    }

    private func record(
        _ row: StoredRow, at place: RecordPlace, in segment: Segment
    ) throws(SystemError) -> [UInt8] {
        let header = RecordHeader.byteCount
        let bytes = try segment.read(header, at: place.offset)
        let keyBytes = bytes.withUnsafeBytes { RecordHeader(at: 0, in: $0)?.keyBytes }
        return try segment.read(header + (keyBytes ?? 0) + row.bytes, at: place.offset)
    }

    private func damaged(_ row: StoredRow, payload: [UInt8]) -> JournalBatch {
        let loss =
            self.losses[row.sequence]
            ?? LostRecords(
                sequences: row.sequence...row.sequence, eventCount: Int(row.eventCount))
        return JournalBatch(
            sequence: row.sequence, eventCount: loss.eventCount ?? 0, payload: payload, loss: loss)
    }

    // MARK: Releasing

    /// Lets segments be used again whose records have all gone, up to a sequence that a checkpoint
    /// holds.
    func release(through sequence: Int64) throws(SystemError) {
        while let first = self.segments.first, first.lastSequence <= sequence {
            do throws(SystemError) {
                try self.keepSpare(first)
            } catch {
                // For want of a descriptor: tried again with the next checkpoint.
                guard error.isNoRoom else { throw error }
                return
            }
            self.segments.removeFirst()
        }
        self.losses = self.losses.filter { $0.key > sequence }
    }

    private func keepSpare(_ segment: Segment) throws(SystemError) {
        if segment.isDamaged {
            try self.setAside(segment)
        } else if self.spares.count < Self.maxSpares {
            self.spares.append(segment)
        } else {
            try self.directory.remove(segment.name)
        }
    }

    /// Gives a damaged file another name: it is never written again, and is there for people.
    private func setAside(_ segment: Segment) throws(SystemError) {
        let aside = try self.asideNumbers()
        for number in aside.dropLast(Self.maxAside - 1) {
            try self.directory.remove("\(number)\(Self.damagedSuffix)")
        }
        try self.directory.rename(
            segment.name, to: "\((aside.last ?? 0) + 1)\(Self.damagedSuffix)")
        try self.directory.sync()
    }

    /// The numbers of the files that were set aside, the oldest first.
    private func asideNumbers() throws(SystemError) -> [Int] {
        try self.directory.names().compactMap { name in
            name.hasSuffix(Self.damagedSuffix) ? Int(name.dropLast(Self.damagedSuffix.count)) : nil
        }.filter { $0 > 0 && $0 < .max }.sorted()
    }

    // MARK: A full disk

    /// Gives up a spare, or else the ballast, for a checkpoint. Returns whether there was one.
    func makeRoom() throws(SystemError) -> Bool {
        if let spare = self.spares.popLast() {
            try self.directory.remove(spare.name)
            return true
        }
        guard self.ballast != nil else { return false }
        self.ballast = nil
        try self.directory.remove(Self.ballastName)
        return true
    }

    /// Holds space back. Where there is none, no file gets longer.
    private func takeBallast() throws(SystemError) {
        let file = try self.directory.open(Self.ballastName)
        do throws(SystemError) {
            try file.allocate(Self.ballastBytes)
        } catch {
            try self.directory.remove(Self.ballastName)
            throw error
        }
        self.ballast = file
    }

    // MARK: Opening

    /// Reads the segments that earlier runs left, and makes sure that the newest record is on disk.
    ///
    /// - Parameters:
    ///   - checkpoint: what need not be read again.
    ///   - onKeys: told the keys of each record that came after the checkpoint, in order.
    /// - Returns: the rows that are still needed, and where sequences go on. A row without a place
    ///   stands for records that should be there and cannot be read.
    /// - Throws: `JournalError.foreign` or `.failed`.
    func recover(
        after checkpoint: CheckpointStore.Contents, onKeys: (Int64, ArraySlice<UInt8>) -> Void
    ) throws(JournalError) -> LogRecovery.Outcome {
        do {
            var recovery = LogRecovery(after: checkpoint, now: self.machine.wallTime())
            // A file of a process that was killed before it synced the directory has a name that a
            // power cut takes away.
            try self.directory.sync()
            let numbers = try self.directory.names().compactMap(Segment.number(of:))
            self.lastNumber = numbers.max() ?? 0
            for number in numbers.sorted() { try recovery.read(self.segment(number)) }
            let outcome = try recovery.finish(onKeys: onKeys)
            self.segments = Deque(outcome.segments)
            self.losses = outcome.losses
            for segment in outcome.spares { try self.keepSpare(segment) }
            try self.prepareSpares()
            return outcome
        } catch let error as JournalError {
            throw error
        } catch {
            throw .failed(reason: "cannot read what earlier runs left: \(error)")
        }
    }

    /// Makes the first segments before the first record comes. Where there is no room the log goes
    /// on without them.
    private func prepareSpares() throws(SystemError) {
        do throws(SystemError) {
            if self.ballast == nil { try self.takeBallast() }
            while self.spares.count < min(self.configuration.preparedSegments, Self.maxSpares) {
                try self.prepareSpare()
            }
        } catch {
            if !error.isNoRoom { throw error }
        }
    }

    private func prepareSpare() throws(SystemError) {
        let segment = try self.newSegment()
        do throws(SystemError) {
            try segment.prepare(SegmentHeader.byteCount + self.configuration.segmentBytes)
        } catch {
            // What it got of a small disk is needed for other files.
            try self.directory.remove(segment.name)
            throw error
        }
        // The last one is taken first: that is the lowest number.
        self.spares.insert(segment, at: 0)
    }
}
