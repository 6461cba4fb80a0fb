// A hits.db of the first format, which an earlier build has left.
internal import Foundation
internal import GRDB
internal import Pacing
@testable internal import SQLiteSink
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

struct FormerHitsTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        self.directory = try TemporaryDirectory()
        self.path = self.directory.file("hits.db")
        for suffix in ["", "-wal"] {
            try Fixtures.data("data-6cb32c8/data/hits.db" + suffix)
                .write(to: URL(filePath: self.path + suffix))
        }
    }

    /// All that a person sees, as the first format had it.
    private func hits() throws -> [Row] {
        try DatabaseQueue(inUse: self.path).read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT rowid, hit_id, kind, campaign_action, delivery_id, broadlog_id, app_id,
                        platform, subject_id, occur_time, receive_time, tenant, traceparent,
                        tracestate, warnings, event FROM hits ORDER BY rowid
                    """)
        }
    }

    private func count(_ sql: String) throws -> Int? {
        try DatabaseQueue(inUse: self.path).read { try Int.fetchOne($0, sql: sql) }
    }

    private func file() throws -> HitsFile {
        try HitsFile(
            path: self.path, SQLiteConfiguration(), busyTimeout: .seconds(5), logger: nil,
            today: { 20_000 }, retention: RetentionClock(.days))
    }

    @Test("every hit moves, and looks as it did")
    func moved() async throws {
        let before = try self.hits()
        #expect(before.count == 28)
        let file = try self.file()
        #expect(try self.hits() == before, "before any is moved")
        await file.moveFormerHits()
        #expect(try self.hits() == before)
        #expect(try self.count("SELECT sum(hits) FROM counts") == 28)
        #expect(try self.count("SELECT sum(hits) FROM parts") == 28)
        #expect(
            try self.count("SELECT count(*) FROM sqlite_master WHERE name = 'hits_before'") == 0)
    }

    @Test("a process that ends in the middle leaves every hit in one place, whatever moved")
    func interrupted() async throws {
        let before = try self.hits()
        for moved in [1, 9, 27] {
            // Each has a file of its own, and ends with it.
            let left = try await self.file().change {
                try $0.moveFormerHits(limit: moved - 28 + Self.left($1), in: $1)
            }
            #expect(left == 28 - moved)
            #expect(try self.hits() == before)
        }
        await (try self.file()).moveFormerHits()
        #expect(try self.hits() == before)
    }

    @Test("how many are left is known after each transaction")
    func progress() async throws {
        let file = try self.file()
        #expect(try await file.moveFormerHits(limit: 9) == 19)
        #expect(file.unmovedHits == 19)
        await file.moveFormerHits()
        #expect(file.unmovedHits == 0)
    }

    private static func left(_ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM hits_before") ?? 0
    }

    @Test("a fact that an earlier build has counted counts once, moved or not", arguments: [0, 28])
    func uniqueHit(moved: Int) async throws {
        let before = try self.hits()
        let file = try self.file()
        _ = try await file.change { try $0.moveFormerHits(limit: moved, in: $1) }
        let events = try before.map { row in
            try Sightline_V1_TrackingEvent(serializedBytes: row["event"] as Data)
        }
        let newest = try #require(before.last)
        let batch = try TestHits.batch(
            events, journal: "another", tenant: newest["tenant"], at: newest["receive_time"])
        _ = try await file.write(batch)
        #expect(try self.hits() == before)
        await file.moveFormerHits()
        #expect(try self.hits() == before, "when all are moved")
        #expect(try self.count("SELECT sum(hits) FROM counts") == 28)
    }
}
