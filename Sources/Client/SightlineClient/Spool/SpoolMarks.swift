/// Which events of a spool's segments are settled, so that the next owner does not send them again.
///
/// A segment's file of marks is a magic, and behind it, at 8 times an event's index, the head of
/// the event's record. Anything else there is no mark: a lost or torn one only sends an event
/// again. The libraries for Go, Java and Python use the same files.
package struct SpoolMarks: Sendable {
    /// Where an event is stored. Its mark is the head of its record, so it cannot be taken for that
    /// of another event that is written to the same place later.
    package struct Place: Sendable, Equatable {
        /// The number of its segment.
        package let segment: UInt64
        /// The byte at which its mark begins.
        package let mark: Int
        /// The head of its record.
        package let head: UInt64

        /// The place of the event with this index in its segment.
        package init(segment: UInt64, index: Int, head: UInt64) {
            self.segment = segment
            self.mark = SpoolMarks.magic.count + index * SpoolMarks.markByteCount
            self.head = head
        }

        /// Whether the bytes of a file of marks contain its mark.
        package func isMarked(in marks: [UInt8]) -> Bool {
            let end = self.mark + SpoolMarks.markByteCount
            return end <= marks.count
                && marks[self.mark..<end].elementsEqual(SpoolRecords.bytes(of: self.head))
        }
    }

    /// The first bytes of a file of marks.
    package static let magic = Array("SLMARKS1".utf8)
    /// The bytes of a mark.
    package static let markByteCount = 8
    /// The number of settled events with which their marks are synced. A power cut brings back
    /// fewer, and those of a file that was emptied; the end of the process brings back none.
    package static let maxUnsyncedCount = 1000

    /// The events settled since the last sync.
    private(set) var unsyncedCount = 0
    private let disk: any SpoolDisk
    private let maxUnsyncedCount: Int
    /// The segments that have a file of marks, and those of which it is not synced.
    private var marked: Set<UInt64> = []
    private var unsynced: Set<UInt64> = []
    private var areNamesUnsynced = false

    /// Creates it without its files: call `read` next.
    init(disk: any SpoolDisk, maxUnsyncedCount: Int) {
        self.disk = disk
        self.maxUnsyncedCount = maxUnsyncedCount
    }

    /// The marks of these segments. Removes those of other segments, and those of another form.
    /// Nothing that an earlier owner has marked or removed counts as durable.
    mutating func read(of segments: [UInt64]) throws(SpoolError) -> [UInt64: [UInt8]] {
        self.areNamesUnsynced = true
        var found: [UInt64: [UInt8]] = [:]
        for segment in try self.disk.marked() {
            let marks = try self.disk.marks(of: segment)
            guard segments.contains(segment), marks.starts(with: Self.magic) else {
                try self.disk.removeMarks(of: segment)
                continue
            }
            found[segment] = marks
            self.marked.insert(segment)
            self.unsynced.insert(segment)
        }
        return found
    }

    /// The places, from the first one on, whose marks are adjacent.
    static func run(of places: ArraySlice<Place>) -> ArraySlice<Place> {
        var end = places.startIndex
        while end < places.endIndex {
            if end > places.startIndex {
                let (last, next) = (places[end - 1], places[end])
                guard next.segment == last.segment, next.mark == last.mark + self.markByteCount
                else { break }
            }
            end += 1
        }
        return places[..<end]
    }

    /// Writes adjacent marks. Does not fail: an event whose mark the disk refuses, because it is
    /// full, is only sent again by the next owner.
    mutating func write(_ run: ArraySlice<Place>) {
        guard let first = run.first else { return }
        let marks = run.flatMap { SpoolRecords.bytes(of: $0.head) }
        if self.marked.insert(first.segment).inserted { self.areNamesUnsynced = true }
        self.unsynced.insert(first.segment)
        // A missing mark only sends its event again.
        try? self.disk.write(marks, at: first.mark, toMarksOf: first.segment)
    }

    /// Counts settled events, and syncs their marks at the limit.
    mutating func count(_ eventCount: Int) {
        self.unsyncedCount += eventCount
        if self.unsyncedCount >= self.maxUnsyncedCount { self.sync() }
    }

    /// Makes durable which events are settled. Does not fail: a power cut may bring back an event
    /// whose mark cannot be synced.
    mutating func sync() {
        for segment in self.unsynced {
            // See above.
            try? self.disk.syncMarks(of: segment)
        }
        if self.areNamesUnsynced {
            // See above.
            try? self.disk.syncNames()
        }
        self.unsynced = []
        self.areNamesUnsynced = false
        self.unsyncedCount = 0
    }

    /// Notes that a segment was removed, and removes its marks. A segment that a power cut brings
    /// back must have them: so they are kept until its removal is durable.
    mutating func segmentWasRemoved(_ segment: UInt64) throws(SpoolError) {
        self.areNamesUnsynced = true
        guard self.marked.contains(segment) else { return }
        try self.disk.syncNames()
        self.areNamesUnsynced = false
        try self.remove(of: segment)
    }

    /// Removes a segment's marks, if it has any.
    mutating func remove(of segment: UInt64) throws(SpoolError) {
        self.unsynced.remove(segment)
        guard self.marked.remove(segment) != nil else { return }
        try self.disk.removeMarks(of: segment)
    }
}
