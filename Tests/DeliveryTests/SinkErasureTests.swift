// What sinks erase of a recipient, piece by piece, and what they leave to others.
@testable internal import Delivery
@testable internal import FileSinks
internal import Foundation
internal import GRDB
internal import Pacing
@testable internal import SQLiteSink
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import Storage
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingRules
internal import WireFormat

struct SinkErasureTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private static let gone = Subject(tenant: "default", ids: ["subject-1"])

    @Test("lines keep their length, and only the recipient's own lose the id")
    func lines() async throws {
        let sink = try JSONLinesSink(directory: self.directory.path)
        var other = TestEvents.full(id: 4)
        other.push.apns.customFields = ["subjectId": "subject-1"]
        for tenant in ["default", "another"] {
            let batch = try TestHits.batch((1...3).map(TestEvents.full) + [other], tenant: tenant)
            #expect(await sink.deliver(batch) == .delivered)
        }
        let before = try LinesFile(1, in: self.directory.path).bytes
        #expect(await sink.erase(Self.gone).end() == .erased(1))
        #expect(await sink.erase(Self.gone).end() == .erased(0))
        let after = try LinesFile(1, in: self.directory.path).bytes
        #expect(after.count == before.count)
        let differing = zip(before, after).filter { $0 != $1 }
        #expect(differing.map(\.0) == Data("subject-1".utf8).map { $0 })
        #expect(differing.allSatisfy { $0.1 == UInt8(ascii: "*") })
    }

    @Test("compressed lines stay, and the receipt says so")
    func compressed() async throws {
        let sink = try JSONLinesSink(
            directory: self.directory.path, .with { $0.compression = .zstd })
        #expect(await sink.deliver(try TestHits.batch([TestEvents.full(id: 1)])) == .delivered)
        let erasure = await sink.erase(Self.gone).end()
        #expect(erasure.outcome == .erased && erasure.count == 0)
        #expect(erasure.reason.contains("hits-000001.jsonl.zst"))
    }

    @Test("rows go with their bytes; counts, keys and the traces of others stay")
    func rows() async throws {
        let sink = try SQLiteSink(path: self.directory.file("hits.db"))
        // The first of a request holds its trace; then one in the middle, and the last.
        let requests: [[Int]] = [[1, 2, 3], [4, 1, 5], [6, 7, 1], [1]]
        for (number, ids) in requests.enumerated() {
            let events = ids.enumerated().map { place, id in
                var event = TestEvents.opened(id: number * 10 + place)
                event.subjectID = "subject-\(id)"
                return event
            }
            let batch = try TestHits.batch(
                events, sequence: Int64(number + 1), tracestate: "a=\(number)")
            #expect(await sink.deliver(batch) == .delivered)
        }
        func rows(_ sql: String) throws -> [Row] {
            try DatabaseQueue(inUse: self.directory.file("hits.db"))
                .read { try Row.fetchAll($0, sql: sql) }
        }
        let others = "SELECT * FROM hits WHERE subject_id <> 'subject-1' ORDER BY rowid"
        let counts = "SELECT * FROM counts ORDER BY 1, 2, 3, 4, 5, 6, 7"
        let (before, countsBefore) = (try rows(others), try rows(counts))
        #expect(before.count == 12)
        #expect(await sink.erase(Self.gone).end() == .erased(8))
        #expect(try rows(others) == before)
        #expect(try rows(counts) == countsBefore)
        #expect(try rows("SELECT * FROM hits").count == before.count)
        #expect(try self.directory.files(holding: "subject-1") == [])
        #expect(await sink.erase(Self.gone).end() == .erased(0))
        #expect(
            await sink.erase(Subject(tenant: "another", ids: ["subject-2"])).end() == .erased(0))
        // What was erased is known still, and another row can follow.
        var again = TestEvents.opened(id: 30)
        again.subjectID = "subject-1"
        let batch = try TestHits.batch([again, TestEvents.opened(id: 99)], sequence: 9)
        #expect(await sink.deliver(batch) == .delivered)
        #expect(try rows("SELECT * FROM hits").count == before.count + 2)
    }

    @Test("of a request's rows each is changed once as the subject's go, however many they are")
    func manyRowsOfARequest() async throws {
        let path = self.directory.file("hits.db")
        let sink = try SQLiteSink(path: path)
        let events = (0..<600).map { place in
            var event = TestEvents.opened(id: place)
            event.subjectID = place == 599 ? "subject-2" : "subject-1"
            return event
        }
        #expect(await sink.deliver(try TestHits.batch(events, tracestate: "a=b")) == .delivered)
        let traces = "SELECT traceparent, tracestate FROM hits WHERE subject_id = 'subject-2'"
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        let before = try database.read { try Row.fetchAll($0, sql: traces) }
        #expect(before.count == 2)
        try await database.write { database in
            var erasure = HitErasure(of: Self.gone)
            while case .overwriting(let place) = erasure.phase {
                try erasure.overwrite(before: place, in: database)
            }
            #expect(erasure.erased == 2 * 599)
            let changes = database.totalChangesCount
            var place: HitErasure.Place? = .end
            while let last = place {
                place = try HitErasure.delete(before: last, in: database).last
            }
            // Each row and its place in the list; of the two rows that stay, one gets the trace,
            // and one the place of that.
            #expect(database.totalChangesCount - changes == 2 * erasure.erased + 2)
        }
        let after = try database.read { try Row.fetchAll($0, sql: traces) }
        #expect(after == before)
    }

    private func query(_ sql: String) throws -> [Row] {
        try DatabaseQueue(inUse: self.directory.file("hits.db"))
            .read { try Row.fetchAll($0, sql: sql) }
    }

    /// A sink with a hit of the subject and one of somebody else on each of some days.
    private func sink(
        _ days: [Int64], busyTimeout: Duration = .seconds(5),
        today: @escaping @Sendable () -> Int = { 3 }
    ) async throws -> SQLiteSink {
        var configuration = SQLiteConfiguration()
        configuration.retainDays = 3
        let sink = try SQLiteSink(
            path: self.directory.file("hits.db"), configuration, busyTimeout: busyTimeout,
            today: today, retention: RetentionClock(.days, settling: .zero))
        for day in days {
            #expect(await sink.deliver(try Self.batch(day)) == .delivered)
        }
        return sink
    }

    private static func batch(_ day: Int64) throws -> HitBatch {
        let events = (0..<2).map { place in
            var event = TestEvents.full(id: Int(day) * 10 + place)
            event.subjectID = place == 0 ? "subject-1" : "subject-2"
            return event
        }
        return try TestHits.batch(events, sequence: day, at: day * 86_400_000_000)
    }

    @Test(
        "a day that retention deletes between two pieces is passed, and no other", arguments: 1...8)
    func droppedBetweenPieces(_ number: Int) async throws {
        let today = Mutex(3)
        let sink = try await self.sink([1, 2, 3]) { today.withLock { $0 } }
        let forgotten = ForgottenSubjects.of(Self.gone)
        let erasure = try await sink.erase(Self.gone).end { count in
            guard count == number else { return }
            today.withLock { $0 = 4 }
            let batch = try Self.batch(4).masked(by: forgotten)
            #expect(await sink.deliver(batch) == .delivered)
        }
        // The oldest day comes last.
        #expect(erasure.outcome == .erased, "\(erasure)")
        #expect((2...3).contains(erasure.count), "\(erasure)")
        #expect(try self.query("SELECT 1 FROM hits WHERE subject_id = 'subject-1'").isEmpty)
        #expect(try self.query("SELECT 1 FROM hits WHERE subject_id = 'subject-2'").count == 3)
        #expect(try self.query("SELECT 1 FROM overwritten_rows").isEmpty)
        let counted = try self.query("SELECT sum(hits) FROM partitions")[0][0] as Int
        #expect(try self.query("SELECT 1 FROM hits").count == counted)
    }

    @Test("rows that an erasure has left are hidden, and the next process deletes them by itself")
    func leftRows() async throws {
        // As a crash leaves it: all is overwritten, and nothing deleted.
        func rows(_ table: String) throws -> Int { try self.query("SELECT 1 FROM \(table)").count }
        let former = try await self.sink([1, 2, 3])
        var piece = await former.erase(Self.gone)
        while try rows("overwritten_rows") < 3, case .followed(let next) = piece {
            piece = await next()
        }
        let tables = (1...3).map { "hits_\($0)" }
        #expect(try tables.map(rows) == [2, 2, 2])
        #expect(try rows("hits") == 3 && rows("stored_hits") == 3)
        let sink = try await self.sink([3])
        #expect(try tables.map(rows) == [1, 1, 1])
        #expect(try rows("overwritten_rows") == 0)
        #expect(try self.query("SELECT hits FROM partitions").map { $0[0] as Int } == [1, 1, 1])
        #expect(await sink.erase(Self.gone).end() == .erased(0))
    }

    @Test("of two erasures that overlap each counts its own rows, and all are deleted once")
    func overlapping() async throws {
        let sink = try await self.sink([1, 2, 3])
        let other = Subject(tenant: "default", ids: ["subject-2"])
        var second = await sink.erase(other)
        let first = await sink.erase(Self.gone).end { _ in
            if case .followed(let next) = second { second = await next() }
        }
        #expect(first == .erased(3))
        #expect(await second.end() == .erased(3))
        #expect(try self.query("SELECT 1 FROM hits").isEmpty)
        #expect(try self.query("SELECT hits FROM partitions").map { $0[0] as Int } == [0, 0, 0])
    }

    @Test("what an erasure that fails has overwritten is deleted with the next batch")
    func failing() async throws {
        let sink = try await self.sink([1, 2], busyTimeout: .zero)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(
            path: self.directory.file("hits.db"), configuration: configuration)
        // Two pieces overwrite rows, and the third finds no more of them.
        let erasure = try await sink.erase(Self.gone).end { count in
            guard count == 3 else { return }
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        }
        #expect(erasure.outcome == .failed)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try self.query("SELECT hits FROM partitions").map { $0[0] as Int } == [2, 2])
        #expect(await sink.deliver(try Self.batch(3)) == .delivered)
        #expect(try self.query("SELECT hits FROM partitions").map { $0[0] as Int } == [1, 1, 2])
    }

    @Test("rows beyond those of one piece are overwritten in the next", arguments: [-1, 0, 1])
    func rowsOfAPiece(_ difference: Int) async throws {
        let sink = try await self.sink([])
        let count = HitErasure.overwrittenRowCount + difference
        for numbers in [0..<count / 2, count / 2..<count] {
            let events = numbers.map { number in
                var event = TestEvents.push(.received, id: number)
                event.subjectID = "subject-1"
                return event
            }
            let batch = try TestHits.batch(
                events, sequence: Int64(numbers.upperBound), at: 86_400_000_000)
            #expect(await sink.deliver(batch) == .delivered)
        }
        #expect(await sink.erase(Self.gone).end() == .erased(count))
        #expect(try self.query("SELECT 1 FROM hits_1").isEmpty)
    }

    @Test("lines of several pieces lose the id, also one that is longer than a piece")
    func linesOfSeveralPieces() async throws {
        let sink = try JSONLinesSink(directory: self.directory.path)
        let filling = String(repeating: "v", count: 1000)
        for sequence in 1...5 {
            let events = (0..<300).map { number in
                var event = TestEvents.opened(id: sequence * 300 + number)
                event.subjectID = "subject-1"
                event.push.fcm.data.customFields = ["key": filling]
                return event
            }
            let batch = try TestHits.batch(events, sequence: Int64(sequence))
            #expect(await sink.deliver(batch) == .delivered)
        }
        // As a build with other limits may have left it.
        let name = try #require(try self.directory.files(holding: "subject-1").first)
        let file = URL(filePath: self.directory.file(name))
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let longer = String(repeating: "v", count: 3 << 20)
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        for line in [lines[0].replacing(filling, with: longer), lines[1]] {
            try handle.write(contentsOf: Data((line + "\n").utf8))
        }
        try handle.close()
        #expect(lines.count == 3000)
        #expect(await sink.erase(Self.gone).end() == .erased(3002))
        #expect(try self.directory.files(holding: "subject-1") == [])
    }

    /// What another program, or the sink, does to files between two pieces.
    enum Move: CaseIterable {
        case deletes, renames, replaces, rotates, decompresses

        /// The lines of the subject that are left to be overwritten.
        var lines: Int { self == .deletes ? 2 : self == .decompresses ? 4 : 3 }
    }

    @Test(
        "a file that is moved, deleted or begun between two pieces is neither passed nor an error")
    func movedBetweenPieces() async throws {
        for move in Move.allCases {
            let directory = try TemporaryDirectory()
            let sink = try JSONLinesSink(
                directory: directory.path, .with { $0.fileBytes = 1 })
            let batch = try TestHits.batch((1...2).map(TestEvents.full))
            for _ in 0..<3 { #expect(await sink.deliver(batch) == .delivered) }
            let masked = try batch.masked(by: ForgottenSubjects.of(Self.gone))
            let first = directory.file("hits-000001.jsonl")
            let second = directory.file("hits-000002.jsonl")
            let lines = try Data(contentsOf: URL(filePath: second))
            let erasure = try await sink.erase(Self.gone).end { count in
                guard count == 1 else { return }
                let files = FileManager.default
                switch move {
                case .deletes: try files.removeItem(atPath: second)
                case .renames:
                    // To the name of one that was searched already.
                    try files.removeItem(atPath: first)
                    try files.moveItem(atPath: second, toPath: first)
                case .replaces:
                    try lines.write(to: URL(filePath: directory.file("new")))
                    try files.removeItem(atPath: second)
                    try files.moveItem(atPath: directory.file("new"), toPath: second)
                case .rotates: #expect(await sink.deliver(masked) == .delivered)
                case .decompresses:
                    try files.copyItem(atPath: second, toPath: directory.file("new"))
                    try files.removeItem(atPath: first)
                    try files.moveItem(atPath: directory.file("new"), toPath: first)
                }
            }
            #expect(erasure == .erased(move.lines), "\(move)")
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            for name in names {
                let bytes = try Data(contentsOf: URL(filePath: directory.file(name)))
                #expect(bytes.range(of: Data("subject-1".utf8)) == nil, "\(move): \(name)")
            }
        }
    }

    @Test("an id with a zero byte is not the id before it", arguments: [true, false])
    func zeroByte(isSQLite: Bool) async throws {
        let sink: any ErasableSink =
            isSQLite
            ? try SQLiteSink(path: self.directory.file("hits.db"))
            : try JSONLinesSink(directory: self.directory.path)
        let ids = ["subject-1", "subject-1\0x", "subject-1\0"]
        let events = ids.enumerated().map { number, id in
            var event = TestEvents.full(id: number)
            event.subjectID = id
            return event
        }
        #expect(await sink.deliver(try TestHits.batch(events)) == .delivered)
        for id in ids.reversed() {
            let subject = Subject(tenant: "default", ids: [id])
            #expect(await sink.erase(subject).end() == .erased(1), "\(id.debugDescription)")
            #expect(await sink.erase(subject).end() == .erased(0), "\(id.debugDescription)")
        }
    }

    /// The free pages of a database that no log belongs to.
    private func freePages(_ name: String) throws -> [ArraySlice<UInt8>] {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: self.directory.file(name))))
        func number(_ offset: Int, _ count: Int) -> Int {
            bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        let pageBytes = number(16, 2)
        func page(_ number: Int) -> Range<Int> { (number - 1) * pageBytes..<number * pageBytes }
        var pages: [ArraySlice<UInt8>] = []
        // Trunks, each of which lists pages: see "The Freelist" of SQLite's file format.
        var trunk = number(32, 4)
        while trunk > 0 {
            let start = page(trunk).lowerBound
            pages.append(bytes[page(trunk)])
            for leaf in 0..<number(start + 4, 4) {
                pages.append(bytes[page(number(start + 8 + 4 * leaf, 4))])
            }
            trunk = number(start, 4)
        }
        return pages
    }

    /// Writes 4,000 rows to hits.db, and erases nine of ten.
    private func eraseMostRows() async throws {
        let sink = try SQLiteSink(path: self.directory.file("hits.db"))
        for request in 0..<20 {
            let events = (0..<100).map { place in
                var event = TestEvents.opened(id: request * 100 + place)
                event.subjectID = place % 10 == 0 ? "subject-2" : "subject-1"
                event.push.fcm.data.customFields = ["key": String(repeating: "v", count: 200)]
                return event
            }
            let batch = try TestHits.batch(events, sequence: Int64(request + 1))
            #expect(await sink.deliver(batch) == .delivered)
        }
        #expect(await sink.erase(Self.gone).end() == .erased(20 * 90 * 2))
    }

    @Test("pages that get free as a subject is forgotten have no id of others who had rows there")
    func freedPages() async throws {
        try await self.eraseMostRows()
        let pages = try self.freePages("hits.db")
        #expect(pages.count > 10, "no page got free, so nothing was looked at")
        #expect(pages.count { $0.firstRange(of: "subject-2".utf8) != nil } == 0)
    }

    @Test("where most rows go, pages are joined, and none keeps a copy of what has moved")
    func manyRows() async throws {
        try await self.eraseMostRows()
        #expect(try self.directory.files(holding: "subject-1") == [])
        #expect(try !self.directory.files(holding: "subject-2").isEmpty)
    }
}
