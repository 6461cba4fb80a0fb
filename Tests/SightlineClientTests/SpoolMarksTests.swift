// Marks of settled events, on the system's disk. SpoolHistoryTests has crashes and power cuts.
internal import Foundation
internal import SightlineClient
internal import TestSupport
internal import Testing

struct SpoolMarksTests {
    private static let first = "0000000000000001.settled"

    private let folder: TemporaryDirectory
    private var path: String { self.folder.file("spool") }

    init() throws { self.folder = try TemporaryDirectory(.memory) }

    private func opened(_ path: String? = nil, segmentBytes: Int = 1 << 20) throws -> (
        log: SpoolLog, left: [SpoolLog.Left]
    ) {
        var log = SpoolLog(
            disk: try SpoolDirectory(path ?? self.path), maxBytes: 8 << 20,
            segmentBytes: segmentBytes)
        let left = try log.recover()
        return (log, left)
    }

    private func events(_ count: Int) -> [[UInt8]] { (0..<count).map { Array("event \($0)".utf8) } }

    /// What the next owner finds if this one is killed now: it opens a copy of the directory.
    private func leftAfterKill() throws -> [[UInt8]] {
        let copy = self.folder.file(UUID().uuidString)
        try FileManager.default.copyItem(atPath: self.path, toPath: copy)
        return try self.opened(copy).left.map(\.bytes)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.path).sorted()
    }

    @Test(
        "what was settled is not found by the next owner after a kill",
        arguments: [1, 7, 100], [200, 1 << 20])
    func kill(answer: Int, segmentBytes: Int) throws {
        var log = try self.opened(segmentBytes: segmentBytes).log
        let events = self.events(1007)
        let places = try events.map { try log.append($0) }
        var settledCount = 0
        while settledCount < 1000 {
            log.release(Array(places[settledCount...].prefix(answer)))
            settledCount = min(settledCount + answer, events.count)
            guard settledCount % 250 < answer || settledCount >= 1000 else { continue }
            #expect(try self.leftAfterKill() == Array(events[settledCount...]))
        }
        log.release(Array(places[settledCount...]))
        try log.close()
        #expect(try self.names() == ["lock"])
    }

    @Test("of a request that is settled in part, the next owner finds the rest, and adds its marks")
    func outOfOrder() throws {
        let events = self.events(60)
        do {
            var log = try self.opened().log
            let places = try events.map { try log.append($0) }
            log.release(places.indices.filter { $0 % 3 == 1 || $0 == 40 }.map { places[$0] })
            // It ends without `close`, as by kill -9.
        }
        let (next, left) = try self.opened()
        var log = next
        let expected = events.indices.filter { $0 % 3 != 1 && $0 != 40 }.map { events[$0] }
        #expect(left.map(\.bytes) == expected)
        let more = Array("of the next owner".utf8)
        _ = try log.append(more)
        log.release(left.indices.filter { $0 % 2 == 0 }.map { left[$0].place })
        let rest = left.indices.filter { $0 % 2 == 1 }.map { left[$0].bytes }
        #expect(try self.leftAfterKill() == rest + [more])
    }

    @Test("a mark is the head of its event's record, as the other libraries read and write it")
    func form() throws {
        var log = try self.opened().log
        let places = try self.events(4).map { try log.append($0) }
        log.release([places[2]])
        let marks = FileManager.default.contents(atPath: self.path + "/" + Self.first)
        let gap = [UInt8](repeating: 0, count: 8)
        let expected = Self.joined(Array("SLMARKS1".utf8), gap, gap, Self.mark(2))
        #expect(marks.map(Array.init) == expected)
    }

    @Test("marks are synced with the last event of the limit", arguments: [-1, 0, 1])
    func limit(beyond: Int) throws {
        var log = try self.opened().log
        let count = SpoolMarks.maxUnsyncedCount + beyond
        let places = try self.events(count + 1).map { try log.append($0) }
        for place in places.prefix(count) { log.release([place]) }
        #expect(log.unsyncedSettledCount == (beyond < 0 ? count : beyond))
        try log.close()
        #expect(log.unsyncedSettledCount == 0)
    }

    private static func joined(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined()) }

    /// The mark of an event with this number.
    private static func mark(_ number: Int) -> [UInt8] {
        Array(SpoolRecords.record(of: Array("event \(number)".utf8)).bytes.prefix(8))
    }

    /// A torn file, files of another form, and marks of other events: what a power cut may leave.
    private static let forgeries: [[UInt8]] = {
        let form = Array("SLMARKS1".utf8)
        let gap = [UInt8](repeating: 0, count: 8)
        return [
            [], Array(form.prefix(5)), form, Self.joined(form, gap), Self.joined(gap, gap),
            Self.joined(Array("SLMARKS2".utf8), Self.mark(0)),
            Self.joined(SpoolRecords.magic, Self.mark(0)),
            Self.joined(form, Array(Self.mark(0).prefix(7))),
            Self.joined(form, Self.mark(1), Self.mark(0)),
            Self.joined(form, gap, gap, gap, Self.mark(0)),
            Self.joined(form, [UInt8](repeating: 255, count: 100)),
        ]
    }()

    @Test("what is not a mark settles nothing", arguments: Self.forgeries)
    func otherBytes(marks: [UInt8]) throws {
        let events = self.events(3)
        do {
            var log = try self.opened().log
            for event in events { _ = try log.append(event) }
        }
        try Data(marks).write(to: URL(filePath: self.path + "/" + Self.first))
        let (next, left) = try self.opened()
        var log = next
        #expect(left.map(\.bytes) == events)
        let more = Array("event 3".utf8)
        _ = try log.append(more)
        log.release([left[1].place])
        #expect(try self.leftAfterKill() == [events[0], events[2], more])
    }

    @Test("an event that comes again in its place is kept: a file that was emptied has no marks")
    func again() throws {
        var log = try self.opened().log
        for place in try self.events(2).map({ try log.append($0) }) { log.release([place]) }
        _ = try log.append(self.events(1)[0])
        #expect(try self.leftAfterKill() == self.events(1))
    }

    @Test("marks without a segment go at the start, and files of other names stay")
    func orphans() throws {
        do {
            var log = try self.opened().log
            try log.close()
        }
        let others = ["0000000000000001.settled.bak", "1.settled", "copy.settled"]
        for name in others + ["0000000000000007.settled"] {
            try Data(SpoolMarks.magic).write(to: URL(filePath: self.path + "/" + name))
        }
        #expect(try self.opened().left == [])
        #expect(try self.names() == others + ["lock"])
    }

    @Test("marks that the disk does not take end nothing: their events are found again")
    func refused() throws {
        var log = try self.opened().log
        let places = try self.events(4).map { try log.append($0) }
        // A directory in its place takes none.
        let marks = self.path + "/" + Self.first
        try FileManager.default.createDirectory(
            atPath: marks, withIntermediateDirectories: false)
        log.release(Array(places.prefix(2)))
        try FileManager.default.removeItem(atPath: marks)
        log.release([places[2]])
        let more = Array("event 4".utf8)
        _ = try log.append(more)
        let events = self.events(4)
        #expect(try self.leftAfterKill() == [events[0], events[1], events[3], more])
    }
}
