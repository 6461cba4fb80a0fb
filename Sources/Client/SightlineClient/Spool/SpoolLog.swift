/// The segments of a spool: it decides which file an event is written to, when a file is synced,
/// and when one is deleted. It has no clock, task or lock.
///
/// A segment only grows, and is synced before the next one begins. So a power cut can tear only the
/// last one, and an earlier one that is incomplete is damaged. A segment is deleted with its last
/// event; until then `SpoolMarks` has those that are settled.
package struct SpoolLog: Sendable {
    /// An event that an earlier owner left.
    package struct Left: Sendable, Equatable {
        /// The encoded event.
        package let bytes: [UInt8]
        /// The place to release it from.
        package let place: SpoolMarks.Place
    }

    private struct Segment: Sendable {
        var fileByteCount = SpoolRecords.magic.count
        var eventCount = 0
        var unsettledCount = 0

        /// The bytes that it may take, with its marks.
        var byteCount: Int {
            self.fileByteCount + SpoolMarks.magic.count
                + self.eventCount * SpoolMarks.markByteCount
        }
    }

    /// The size from which on the current segment is deleted with its last event. A smaller one is
    /// emptied and continued, so that a slow sender does not create a file for each event. It is a
    /// block of most file systems. In a larger file, a power cut may leave the first block as it
    /// was after emptying, with old events behind it, which looks like damage.
    package static let idleByteCount = 4096

    /// The events appended since it was opened.
    package private(set) var appendedCount: UInt64 = 0
    /// How many of them, from the first, are durable.
    package private(set) var syncedCount: UInt64 = 0
    /// Why nothing can be appended any more; nil if it can.
    package private(set) var failure: SpoolError?
    /// The bytes of all files, each with room for the marks of all its events.
    package private(set) var byteCount = 0
    /// The bytes of a torn end that were cut from an earlier owner's files.
    package private(set) var cutByteCount = 0

    /// The events settled since their marks were synced.
    package var unsyncedSettledCount: Int { self.marks.unsyncedCount }

    private let disk: any SpoolDisk
    private var marks: SpoolMarks
    private let maxBytes: Int
    private let segmentBytes: Int
    private var segments: [UInt64: Segment] = [:]
    private var unsettledCount = 0
    private var last: UInt64 = 0
    /// The last segment's file; nil until this owner has begun one.
    private var file: (any SpoolFile)?

    /// Creates a log without its files: call `recover` next. The marks are synced with every
    /// `maxUnsyncedSettledCount`-th settled event.
    package init(
        disk: any SpoolDisk, maxBytes: Int, segmentBytes: Int,
        maxUnsyncedSettledCount: Int = SpoolMarks.maxUnsyncedCount
    ) {
        self.disk = disk
        self.marks = SpoolMarks(disk: disk, maxUnsyncedCount: maxUnsyncedSettledCount)
        self.maxBytes = maxBytes
        // Limits a segment, so that a few events that are sent again cannot hold all of the space.
        self.segmentBytes = min(segmentBytes, max(1, maxBytes / 4))
    }

    /// The events that an earlier owner left, in order. Call it once, before anything is appended.
    /// It syncs what it found: a power cut must not tear a segment that is no longer the last.
    package mutating func recover() throws(SpoolError) -> [Left] {
        let numbers = try self.disk.segments()
        var all: [(number: UInt64, byteCount: Int, found: SpoolRecords.Found)] = []
        for number in numbers {
            let bytes = try self.disk.contents(of: number)
            do {
                let found = try SpoolRecords.read(bytes, mayBeTorn: number == numbers.last)
                all.append((number, bytes.count, found))
            } catch {
                throw .damaged(file: self.disk.path(of: number), byte: error.byte)
            }
        }
        let marks = try self.marks.read(of: numbers)
        var left: [Left] = []
        for (number, byteCount, found) in all {
            self.last = number
            self.cutByteCount += byteCount - found.end
            let ownMarks = marks[number] ?? []
            let own = Self.left(found.events, of: number, marks: ownMarks)
            guard !own.isEmpty else {
                try self.disk.remove(number)
                try self.marks.segmentWasRemoved(number)
                continue
            }
            let file = try self.disk.open(number)
            if found.end < byteCount { try file.truncate(to: found.end) }
            try file.sync()
            // A torn end may have had events with marks.
            let eventCount = max(
                found.events.count, ownMarks.count / SpoolMarks.markByteCount)
            let segment = Segment(
                fileByteCount: found.end, eventCount: eventCount, unsettledCount: own.count)
            self.segments[number] = segment
            self.byteCount += segment.byteCount
            self.unsettledCount += own.count
            left += own
        }
        // Otherwise each owner that is killed would add to what a power cut brings back.
        self.marks.sync()
        return left
    }

    /// The events of a segment that have no mark.
    private static func left(
        _ events: [[UInt8]], of segment: UInt64, marks: [UInt8]
    ) -> [Left] {
        events.enumerated().compactMap { index, bytes in
            let place = SpoolMarks.Place(
                segment: segment, index: index, head: SpoolRecords.head(of: bytes))
            return place.isMarked(in: marks) ? nil : Left(bytes: bytes, place: place)
        }
    }

    /// Whether `append` need not wait at present: the event fits, as one always does if no other is
    /// kept, or nothing will be written any more.
    package func hasRoom(for eventByteCount: Int) -> Bool {
        self.unsettledCount == 0 || self.byteCount + self.needed(eventByteCount) <= self.maxBytes
            || self.failure != nil
    }

    /// Writes an event; returns the place to release it from. If it throws, nothing of the event is
    /// kept.
    package mutating func append(_ event: [UInt8]) throws(SpoolError) -> SpoolMarks.Place {
        if let failure { throw failure }
        let file = try self.fileWithRoom(for: event.count)
        let record = SpoolRecords.record(of: event)
        do {
            try file.append(record.bytes)
        } catch {
            self.cut(file)
            throw error
        }
        var segment = self.segments[self.last] ?? Segment()
        let place = SpoolMarks.Place(
            segment: self.last, index: segment.eventCount, head: record.head)
        segment.fileByteCount += record.bytes.count
        segment.eventCount += 1
        segment.unsettledCount += 1
        self.segments[self.last] = segment
        self.byteCount += record.bytes.count + SpoolMarks.markByteCount
        self.unsettledCount += 1
        self.appendedCount += 1
        return place
    }

    /// Releases settled events. Call it before anyone learns that they are settled: then none of
    /// them is sent again. Deletes a segment with its last event, and marks those of the others.
    package mutating func release(_ places: [SpoolMarks.Place]) {
        self.unsettledCount -= places.count
        for place in places { self.segments[place.segment]?.unsettledCount -= 1 }
        var rest = places[...]
        while let first = rest.first {
            let run = SpoolMarks.run(of: rest)
            rest = rest[run.endIndex...]
            if let segment = self.segments[first.segment] {
                if segment.unsettledCount > 0 {
                    self.marks.write(run)
                } else {
                    self.end(segment, first.segment)
                }
            }
            self.marks.count(run.count)
        }
    }

    /// Empties or deletes a segment without unsettled events.
    private mutating func end(_ segment: Segment, _ number: UInt64) {
        if number == self.last, let file {
            guard segment.fileByteCount >= min(Self.idleByteCount, self.segmentBytes) else {
                return self.empty(file)
            }
            self.file = nil
        }
        self.remove(number)
    }

    /// The file to sync, and the count to pass to `noteSync` afterwards; the file is nil if
    /// everything is durable or settled already.
    package func nextSync() -> (file: (any SpoolFile)?, count: UInt64) {
        (self.file, self.appendedCount)
    }

    /// Records the outcome of a sync. A failed one ends the spool: nobody knows what is durable
    /// after it.
    package mutating func noteSync(through count: UInt64, failure: SpoolError?) {
        self.failure = self.failure ?? failure
        // The system tells of a failed write once: a later sync without an error proves nothing.
        if self.failure == nil { self.syncedCount = max(self.syncedCount, count) }
    }

    /// Syncs and closes it. Unsettled events stay for the next owner.
    package mutating func close() throws(SpoolError) {
        try self.endSegment()
        if self.segments[self.last]?.unsettledCount == 0 { self.remove(self.last) }
        self.marks.sync()
        if let failure { throw failure }
    }

    private func needed(_ eventByteCount: Int) -> Int {
        Segment().byteCount + SpoolRecords.headByteCount + SpoolMarks.markByteCount
            + eventByteCount
    }

    /// The file to append to: the last segment's, or a new one's.
    private mutating func fileWithRoom(for eventByteCount: Int) throws(SpoolError) -> any SpoolFile
    {
        if let file, let segment = self.segments[self.last] {
            let isIdle = self.unsettledCount == 0
            let isOver = self.byteCount + self.needed(eventByteCount) > self.maxBytes
            if segment.fileByteCount < self.segmentBytes, !(isIdle && isOver) { return file }
            try self.endSegment()
            if segment.unsettledCount == 0 { self.remove(self.last) }
        }
        let number = self.last + 1
        let file = try self.disk.create(number)
        try file.append(SpoolRecords.magic)
        self.file = file
        self.last = number
        self.segments[number] = Segment()
        self.byteCount += Segment().byteCount
        return file
    }

    /// Syncs the current segment before the next one begins: only the last may be torn.
    private mutating func endSegment() throws(SpoolError) {
        guard let file else { return }
        self.file = nil
        do {
            try file.sync()
        } catch {
            self.failure = self.failure ?? error
            throw error
        }
        if self.failure == nil { self.syncedCount = self.appendedCount }
    }

    /// Removes the rest of a failed write: only the last record may be incomplete.
    private mutating func cut(_ file: any SpoolFile) {
        do {
            try file.truncate(to: self.segments[self.last]?.fileByteCount ?? 0)
        } catch {
            self.failure = self.failure ?? error
        }
    }

    /// Removes the settled events of the last segment, which would be sent again after a crash, and
    /// their marks. If a power cut undoes this, the events become duplicates.
    private mutating func empty(_ file: any SpoolFile) {
        do throws(SpoolError) {
            try file.truncate(to: SpoolRecords.magic.count)
            try self.marks.remove(of: self.last)
            self.byteCount -= self.segments[self.last]?.byteCount ?? 0
            self.byteCount += Segment().byteCount
            self.segments[self.last] = Segment()
        } catch {
            self.failure = self.failure ?? error
        }
    }

    private mutating func remove(_ number: UInt64) {
        self.byteCount -= self.segments.removeValue(forKey: number)?.byteCount ?? 0
        do throws(SpoolError) {
            try self.disk.remove(number)
            try self.marks.segmentWasRemoved(number)
        } catch {
            self.failure = self.failure ?? error
        }
    }
}
