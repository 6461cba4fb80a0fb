// Dead letters of earlier builds, which do not name their journal.
internal import Delivery
internal import Foundation
internal import GRDB
internal import SightlineProtos
internal import SinkKit
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

struct DeadLettersMigrationTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private static let columns = """
        rowid, sink, sequence, position, hit_id, reason, tenant, refused_time, record
        """

    /// A file from before format numbers: rows with gaps, NULLs, and a batch.
    private func makeOldFile(_ path: String, _ batch: HitBatch? = nil) throws {
        try DatabaseQueue(inUse: path).writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA journal_mode = WAL;
                    CREATE TABLE dead_letters (
                        sink TEXT NOT NULL, sequence INTEGER NOT NULL, position INTEGER NOT NULL,
                        hit_id BLOB, reason TEXT NOT NULL, tenant TEXT,
                        refused_time INTEGER NOT NULL, record BLOB NOT NULL,
                        UNIQUE (sink, sequence, position));
                    """)
            for row in [5, 2, 9, 10_000] {
                try database.execute(
                    sql: """
                        INSERT INTO dead_letters (\(Self.columns))
                        VALUES (?, 'a', ?, 0, NULL, 'damaged', NULL, ?, zeroblob(?))
                        """, arguments: [row, row * 3, row + 1, row % 3_000])
            }
            try batch?.forEach { position, hit in
                try database.execute(
                    sql: """
                        INSERT INTO dead_letters
                        VALUES ('a', ?, ?, ?, 'no', 't', 1, ?)
                        """,
                    arguments: [
                        7, position, Data(hit.id), Data(try hit.recordBytes()),
                    ])
            }
        }
    }

    private func rows(_ path: String) throws -> [Row] {
        try DatabaseQueue(inUse: path).read { database in
            try Row.fetchAll(
                database, sql: "SELECT \(Self.columns) FROM dead_letters ORDER BY rowid")
        }
    }

    @Test("every letter stays as it is, and tells of no journal")
    func unchanged() throws {
        let path = self.directory.file("dead_letters.db")
        try self.makeOldFile(path)
        let before = try self.rows(path)
        for _ in 0..<2 { _ = try DeadLetters(path: path) }
        #expect(try self.rows(path) == before && before.count == 4)
        let journals = try DatabaseQueue(inUse: path).read {
            try String.fetchAll($0, sql: "SELECT DISTINCT journal FROM dead_letters")
        }
        #expect(journals == [""])
    }

    @Test("a crash at any page of the change leaves the old form or the new, with every letter")
    func interrupted() throws {
        let path = self.directory.file("dead_letters.db")
        try self.makeOldFile(path)
        let before = try self.rows(path)
        let old = try Data(contentsOf: URL(filePath: path))
        let letters = try DeadLetters(path: path)
        let log = try Data(contentsOf: URL(filePath: path + "-wal"))
        try #require(log.count > 3 * 4096)
        // Frames of 24 and 4,096 bytes behind a header of 32.
        for length in stride(from: 0, through: log.count, by: 2_060) {
            let cut = self.directory.file("cut.db")
            for name in ["", "-shm"] { try? FileManager.default.removeItem(atPath: cut + name) }
            try old.write(to: URL(filePath: cut))
            try log.prefix(length).write(to: URL(filePath: cut + "-wal"))
            _ = try DeadLetters(path: cut)
            #expect(try self.rows(cut) == before, "\(length) of \(log.count) bytes")
        }
        withExtendedLifetime(letters) {}
    }

    @Test("a batch that an earlier build has kept, and that comes again, is not kept twice")
    func comesAgain() async throws {
        let path = self.directory.file("dead_letters.db")
        let batch = try TestHits.batch([TestEvents.push(.opened, id: 1)], sequence: 7)
        try self.makeOldFile(path, batch)
        let letters = try DeadLetters(path: path)
        try await letters.keep(batch, reasons: [0: "no", 1: "no"], sink: "a")
        #expect(try self.rows(path).count == 6)
        // The same position in another journal is another hit.
        let other = try TestHits.batch([TestEvents.push(.opened, id: 2)], sequence: 7)
        try await letters.keep(other, reasons: [0: "no", 1: "no"], sink: "a")
        #expect(try self.rows(path).count == 8)
        // A loss without bytes does not identify its journal.
        let damaged = JournalBatch(
            sequence: 9_000, eventCount: 0, payload: [],
            loss: LostRecords(sequences: 9_000...9_000, eventCount: nil))
        try await letters.keep(damaged: damaged, of: "j", sink: "a")
        #expect(try self.rows(path).count == 9)
    }
}
