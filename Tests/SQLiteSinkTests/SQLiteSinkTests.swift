// hits.db: its rows, its view, and its place in the journal.
internal import Foundation
internal import GRDB
@testable internal import SQLiteSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import Storage
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

struct SQLiteSinkTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private func rows(_ sql: String) throws -> [Row] {
        try DatabaseQueue(inUse: self.directory.file("hits.db")).read { database in
            try Row.fetchAll(database, sql: sql)
        }
    }

    private func sink() throws -> SQLiteSink {
        try SQLiteSink(path: self.directory.file("hits.db"))
    }

    @Test("D8: every column of a hit that says everything")
    func fullRow() async throws {
        let sink = try self.sink()
        let batch = try TestHits.batch([TestEvents.full(id: 0x138a)], tracestate: "a=b")
        #expect(await sink.deliver(batch) == .delivered)
        let row = try #require(try self.rows("SELECT * FROM hits").first)
        let record = try #require(try batch.records.first)
        #expect(
            Array(row.columnNames).joined(separator: " ") == """
                hit_id kind campaign_action delivery_id broadlog_id app_id platform subject_id \
                occur_time receive_time tenant traceparent tracestate warnings event rowid
                """)
        #expect(row["hit_id"] == record.hitID)
        #expect((row["hit_id"] as Data).count == 16)
        let texts = [
            "kind": "impression", "delivery_id": "56c4", "broadlog_id": "h138a",
            "app_id": "com.example.app", "platform": "ios", "subject_id": "subject-5002",
            "tenant": "default", "traceparent": record.traceContext.traceparent,
            "tracestate": "a=b", "warnings": "flag_assumed_on,impression_unreliable",
        ]
        for (column, text) in texts { #expect(row[column] as String? == text, "\(column)") }
        let numbers = [
            "campaign_action": 7, "occur_time": 1_799_999_999_123_456,
            "receive_time": TestHits.receiveTime,
        ]
        for (column, number) in numbers { #expect(row[column] as Int64? == number, "\(column)") }
        #expect(row["event"] == (try TestEvents.full(id: 0x138a).serializedBytes() as Data))
    }

    @Test("the hits of an event share its bytes in the file, and each has them in the view")
    func sharedBytes() async throws {
        let sink = try self.sink()
        let events = (1...2).map { TestEvents.push(.opened, id: $0) }
        // Of the last event the click is known before, so its open has the bytes.
        let click = try TestHits.batch([TestEvents.action(.click, id: 3)], sequence: 1)
        let opened = try TestHits.batch(events + [TestEvents.action(.open, id: 3)], sequence: 2)
        for batch in [click, opened] { #expect(await sink.deliver(batch) == .delivered) }
        let stored = try self.rows("SELECT typeof(event) FROM hits_1 ORDER BY id")
        #expect(
            stored.map { $0[0] } == ["blob", "blob", "integer", "blob", "integer", "blob"])
        let bytes = try events.map { try $0.serializedBytes() as Data }
        #expect(
            try self.rows("SELECT event FROM hits WHERE rowid BETWEEN 2 AND 5 ORDER BY rowid")
                .map { $0[0] } == [bytes[0], bytes[0], bytes[1], bytes[1]])
    }

    @Test("the row ids of erased hits are not used again, and partitions count what is left")
    func idsOfErasedHits() async throws {
        for id in 1...2 {
            let batch = try TestHits.batch([TestEvents.full(id: id)], sequence: Int64(id))
            #expect(await (try self.sink()).deliver(batch) == .delivered)
        }
        let subject = Subject(tenant: "default", ids: ["subject-2"])
        #expect(await (try self.sink()).erase(subject).end() == .erased(1))
        #expect(try self.rows("SELECT hits FROM partitions").map { $0[0] as Int } == [1])
        let batch = try TestHits.batch([TestEvents.full(id: 3)], sequence: 3)
        #expect(await (try self.sink()).deliver(batch) == .delivered)
        #expect(
            try self.rows("SELECT rowid FROM hits ORDER BY rowid").map { $0[0] as Int } == [1, 3])
        #expect(try self.rows("SELECT hits FROM partitions").map { $0[0] as Int } == [2])
    }

    @Test("a hit in another partition than the event's first has its bytes itself")
    func sharedBytesOfTwoPartitions() throws {
        let database = try DatabaseQueue()
        try database.write { database in
            try SQLiteSink.format.create(database)
            var partitions = try HitPartitions(in: database, maxHits: 2)
            let rows = try (0..<3).map { _ in try partitions.newRow(on: 7, in: database) }
            #expect(rows[0].distance(to: rows[1]) == 1)
            #expect(rows[1].distance(to: rows[2]) == nil)
        }
    }

    @Test("what is not said is NULL, and no warning is an empty text")
    func nulls() async throws {
        let sink = try self.sink()
        #expect(
            await sink.deliver(try TestHits.batch([TestEvents.action(.click, id: 1)])) == .delivered
        )
        let row = try #require(try self.rows("SELECT * FROM hits").first)
        for column in ["app_id", "platform", "subject_id", "occur_time", "tracestate"] {
            #expect(row[column] as DatabaseValue == .null, "\(column)")
        }
        #expect(row["warnings"] == "")
    }

    @Test("D9: a hit has its product's own number")
    func campaignAction() async throws {
        let sink = try self.sink()
        let events =
            [Sightline_V1_Action.open, .click, .button1, .button2, .close, .impression]
            .map { TestEvents.action($0, id: 1) }
            + [.open, .click].map { TestEvents.action($0, id: 2, product: .classic) }
        #expect(await sink.deliver(try TestHits.batch(events)) == .delivered)
        let rows = try self.rows("SELECT kind, campaign_action FROM hits ORDER BY rowid")
        #expect(
            rows.map { "\($0[0] as String) \($0[1] as Int)" } == [
                "open 1", "click 2", "button_1 3", "button_2 4", "close 5", "impression 7",
                "impression 1", "click 2",
            ])
    }

    @Test("D20: the funnel's ratios leave iOS out")
    func funnel() async throws {
        let sink = try self.sink()
        let events =
            (1...4).map { TestEvents.push(.received, id: $0) }
            + [TestEvents.push(.opened, id: 1), TestEvents.push(.dismissed, id: 2)]
            + [
                TestEvents.push(.received, id: 9, on: .ios),
                TestEvents.push(.opened, id: 9, on: .ios),
            ]
            + [TestEvents.push(.opened, id: 5, on: .ios, delivery: "d57fd6")]
        #expect(await sink.deliver(try TestHits.batch(events)) == .delivered)
        let rows = try self.rows("SELECT * FROM funnel ORDER BY delivery_id")
        #expect(
            Array(rows[0].columnNames).joined(separator: " ") == """
                tenant delivery_id impressions impressions_ios clicks clicks_ios opens opens_ios \
                click_ratio open_ratio attempted sent failed skipped delivered_rate \
                impressions_of_delivered open_rate click_through_rate
                """)
        let counts = rows.map { row in (2...7).map { row[$0] as Int } }
        #expect(counts == [[4, 1, 2, 1, 1, 1], [0, 0, 0, 1, 0, 1]])
        #expect(rows.map { $0["click_ratio"] as Double? } == [0.5, nil])
        #expect(rows.map { $0["open_ratio"] as Double? } == [0.25, nil])
    }

    @Test("D16, D60: the funnel's rates are of what was sent, and NULL where nobody reports it")
    func funnelOfSends() async throws {
        let sink = try self.sink()
        let events =
            [TestEvents.send(.failed, id: 1)] + (1...8).map { TestEvents.send(.sent, id: $0) }
            + [TestEvents.send(.sent, id: 9, on: .ios), TestEvents.send(.failed, id: 10)]
            + [TestEvents.send(.skipped, id: 11), TestEvents.send(.failed, id: 8)]
            + [TestEvents.push(.received, id: 1), TestEvents.push(.opened, id: 1)]
            + [TestEvents.push(.dismissed, id: 9, on: .ios)]
            + [TestEvents.push(.received, id: 1, delivery: "d57fd6")]
        #expect(await sink.deliver(try TestHits.batch(events)) == .delivered)
        let rows = try self.rows("SELECT * FROM funnel ORDER BY delivery_id")
        let names = ["attempted", "sent", "failed", "skipped"]
        #expect(names.map { rows[0][$0] as Int? } == [10, 9, 3, 1])
        #expect(names.map { rows[1][$0] as Int? } == [nil, nil, nil, nil])
        let rates = [
            "delivered_rate", "impressions_of_delivered", "open_rate", "click_through_rate",
        ]
        #expect(rates.map { rows[0][$0] as Double? } == [0.9, 0.125, 0.1111, 0.2222])
        #expect(rates.map { rows[1][$0] as Double? } == [nil, nil, nil, nil])
    }

    @Test("a view of another text is replaced, and the hits stay")
    func otherView() async throws {
        let batch = try TestHits.batch([TestEvents.push(.received, id: 1)])
        let text = "SELECT sql FROM sqlite_master WHERE name = 'funnel'"
        #expect(await (try self.sink()).deliver(batch) == .delivered)
        let views = try self.rows(text)
        try await DatabaseQueue(inUse: self.directory.file("hits.db")).write {
            try $0.execute(
                sql: "DROP VIEW funnel; CREATE VIEW funnel AS SELECT count(*) FROM hits")
        }
        _ = try self.sink()
        #expect(try self.rows(text) == views)
        #expect(try self.rows("SELECT impressions FROM funnel") == [["impressions": 1]])
    }

    /// A journal that has lost its newest record uses its sequence again.
    @Test("a hit is known by its fact, and not by its sequence; the cursor never goes back")
    func cursor() async throws {
        let sink = try self.sink()
        for (id, sequence, journal) in [
            (1, 5, "j"), (2, 5, "j"), (1, 6, "j"), (3, 4, "j"), (4, 1, "k"),
        ] {
            let batch = try TestHits.batch(
                [TestEvents.full(id: id)], sequence: Int64(sequence), journal: journal)
            #expect(await sink.deliver(batch) == .delivered)
        }
        let subjects = try self.rows("SELECT subject_id FROM hits ORDER BY rowid")
            .map { $0[0] as String }
        #expect(subjects == (1...4).map { "subject-\($0)" })
        let cursors = try self.rows("SELECT * FROM cursor ORDER BY journal")
        #expect(cursors.map { "\($0[0] as String) \($0[1] as Int)" } == ["j 6", "k 1"])
    }

    @Test("rows and cursor are one transaction: a batch that fails half way leaves neither")
    func transaction() async throws {
        let sink = try self.sink()
        let whole = try TestHits.batch([TestEvents.full(id: 1)], sequence: 1)
        let broken = HitBatch(journal: "j", sequence: 1, payload: whole.payload + [1, 2, 3])
        guard case .unreadable = await sink.deliver(broken) else {
            Issue.record("delivered")
            return
        }
        #expect(try self.rows("SELECT 1 FROM hits").isEmpty)
        #expect(try self.rows("SELECT 1 FROM cursor").isEmpty)
        #expect(await sink.deliver(whole) == .delivered)
        #expect(try self.rows("SELECT 1 FROM hits").count == 1)
    }

    @Test("D17: a fact counts once in hits.db, beyond the window too")
    func uniqueHit() async throws {
        let sink = try self.sink()
        for sequence in 1...3 {
            let batch = try TestHits.batch(
                [TestEvents.push(.opened, id: 1)], sequence: Int64(sequence))
            #expect(await sink.deliver(batch) == .delivered)
        }
        #expect(
            try self.rows("SELECT kind FROM hits").map { $0[0] as String } == ["click", "open"])
    }
}
