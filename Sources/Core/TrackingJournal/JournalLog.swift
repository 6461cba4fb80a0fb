// The log of segments. A commit is one write and one fdatasync of a preallocated file. SQLite would
// write whole pages of a tree: four times the payload for small groups.
internal import DequeModule
internal import Storage

/// The segments in the order of their records, and spares for reuse. Used on the journal's queue
/// only.
final class JournalLog {
    private let directory: any Directory
    private let machine: Machine
    private let configuration: Journal.Configuration
    /// Records are appended to the last segment.
    private var segments: Deque<Segment> = []
    /// Released segments, reused oldest first so that old records get overwritten. Extending a file
    /// would cost a metadata write.
    private var spares: Deque<Segment> = []
    private var lastNumber = 0
    /// The losses that rows without a place represent, by sequence.
    private var losses: [Int64: LostRecords] = [:]

    /// Reserves space and a descriptor for the checkpoint that frees segments on a full disk.
    private var ballast: (any OpenFile)?

    /// The number of spares kept; further ones from a burst are deleted.
    private static let maxSpares = 4
    private static let ballastBytes = 1 << 20
    private static let ballastName = "ballast"
    private static let damagedSuffix = ".damaged"
    /// The maximum number of damaged files kept aside; the oldest are deleted first.
    static let maxAside = 16

    /// Why a record was not appended.
    enum Failure: Error {
        /// There is no room; the log is unchanged.
        case noRoom
        /// The disk failed.
        case failed(reason: String)
    }

    /// Creates a log to be recovered, and its directory if that is missing.
    ///
    /// - Throws: `JournalError.unusable` if the directory cannot be created.
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

    /// Appends a record and returns its place once it is on disk.
    func append(_ record: Record) throws(Failure) -> RecordPlace {
        // The next start finds only records whose sequences increase.
        if let last = self.segments.last {
            precondition(record.sequence > last.lastSequence, "a record comes out of order")
        }
        do throws(SystemError) {
            if let place = try self.appendToCurrent(record) { return place }
            return try self.appendToNext(record)
        } catch {
            throw error.isNoRoom ? .noRoom : .failed(reason: "\(error)")
        }
    }

    /// Appends a record to the last segment. Returns nil if that is full, or if the disk is full
    /// and a spare, which may have allocated space, can be tried.
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
        // If the ballast was given to a checkpoint, take it back before a file grows.
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
            self.spares.prepend(next)
            throw error
        }
    }

    /// An empty segment: a spare, or a new file.
    private func takeSpare() throws(SystemError) -> Segment {
        if let spare = self.spares.popFirst() {
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

    /// Reads a row's batch from its segment. An unreadable one is returned as a damaged batch.
    func batch(_ row: StoredRow) throws(SystemError) -> JournalBatch {
        guard let place = row.place,
            let segment = self.segments.first(where: { $0.number == place.segment })
        else { return self.damaged(row, payload: []) }
        do throws(SystemError) {
            let record = try self.record(row, at: place, in: segment)
            let found = record.withUnsafeBytes { FoundRecord(at: 0, in: $0) }
            let payload = Array(record.suffix(row.bytes))
            if found?.isWhole == true, found?.header.sequence == row.sequence {
                return JournalBatch(row, payload: payload)
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

    /// Makes segments spares when all their records are at or before `sequence`, which must be in a
    /// durable checkpoint.
    func release(through sequence: Int64) throws(SystemError) {
        while let first = self.segments.first, first.lastSequence <= sequence {
            do throws(SystemError) {
                try self.keepSpare(first)
            } catch {
                // No descriptor or room to do so: try again after the next checkpoint.
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
            try? segment.eraseRest()
            self.spares.append(segment)
        } else {
            try self.directory.remove(segment.name)
        }
    }

    /// Renames a damaged file, so that it is never overwritten and can be examined.
    private func setAside(_ segment: Segment) throws(SystemError) {
        let aside = try self.asideNumbers()
        for number in aside.dropLast(Self.maxAside - 1) {
            try self.directory.remove("\(number)\(Self.damagedSuffix)")
        }
        try self.directory.rename(
            segment.name, to: "\((aside.last ?? 0) + 1)\(Self.damagedSuffix)")
        try self.directory.sync()
    }

    /// The numbers of the files set aside, oldest first.
    private func asideNumbers() throws(SystemError) -> [Int] {
        try self.directory.names().compactMap { name in
            name.hasSuffix(Self.damagedSuffix) ? Int(name.dropLast(Self.damagedSuffix.count)) : nil
        }.filter { $0 > 0 && $0 < .max }.sorted()
    }

    // MARK: A full disk

    /// Deletes a spare, or else the ballast, to make room for a checkpoint. Returns whether it did.
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

    /// Reserves the ballast. Fails if there is no room, so that no file grows.
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

    /// Reads the segments of earlier runs and makes sure that the newest record is on disk.
    ///
    /// - Parameters:
    ///   - checkpoint: the newest checkpoint; earlier records need not be read again.
    ///   - onChanges: called with what each record after the checkpoint changes, in order.
    /// - Returns: the rows that are still needed, and the last sequence. A row without a place
    ///   represents records that are missing or unreadable.
    /// - Throws: `JournalError.format` or `.failed`.
    func recover(
        after checkpoint: CheckpointStore.Contents, onChanges: (Int64, RecordChanges) -> Void
    ) throws(JournalError) -> LogRecovery.Outcome {
        do {
            var recovery = LogRecovery(after: checkpoint, now: self.machine.wallTime())
            // If a process was killed before it synced the directory, a power cut could still
            // remove a file's entry.
            try self.directory.sync()
            let numbers = try self.directory.names().compactMap(Segment.number(of:))
            self.lastNumber = numbers.max() ?? 0
            for number in numbers.sorted() { try recovery.read(self.segment(number)) }
            let outcome = try recovery.finish(onChanges: onChanges)
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

    /// Preallocates segments before the first record. If there is no room, the log starts without.
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
            // On a small disk, other files need the space.
            try self.directory.remove(segment.name)
            throw error
        }
        self.spares.append(segment)
    }
}
