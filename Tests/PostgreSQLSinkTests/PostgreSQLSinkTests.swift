// What the postgresql sink does beyond every sink's contract, on a real server.
internal import Foundation
internal import Pacing
@testable internal import PostgreSQLSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import Synchronization
internal import TestSupport
internal import Testing

@Suite(
    .enabled(
        if: PostgreSQLConfiguration.testServer != nil,
        "SIGHTLINE_TEST_POSTGRESQL is not the URL of a server: `make test-swift` starts one"))
struct PostgreSQLSinkTests {
    let directory: TemporaryDirectory
    let configuration: PostgreSQLConfiguration
    let database: TestDatabase

    init() throws {
        self.directory = try TemporaryDirectory()
        self.configuration = try .test(self.directory)
        self.database = TestDatabase(self.configuration)
    }

    func batch(_ ids: ClosedRange<Int>, sequence: Int64 = 1) throws -> HitBatch {
        try TestHits.batch(ids.map { TestEvents.full(id: $0) }, sequence: sequence)
    }

    func events() throws -> [String] {
        try self.database.run("SELECT subject_id FROM hits ORDER BY rowid").map { $0[0] }
    }

    func names(_ ids: some Sequence<Int>) -> [String] { ids.map { "subject-\($0)" } }

    func expectUnavailable(_ answer: SinkAnswer, _ words: String) {
        guard case .unavailable(let reason) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(reason.contains(words), "\(reason)")
    }

    // MARK: Rows

    @Test("a row has every column of hits.db, and says what the record says")
    func columns() async throws {
        let sink = try PostgreSQLSink(self.configuration)
        let batch = try TestHits.batch(
            [TestEvents.full(id: 1), TestEvents.opened(id: 2)], tracestate: "a=b")
        #expect(await sink.deliver(batch) == .delivered)
        let rows = try self.database.run(
            """
            SELECT replace(hit_id::text, '-', ''), kind, campaign_action, delivery_id, broadlog_id,
                coalesce(app_id, '-'), platform, subject_id, coalesce(occur_time, -1), receive_time,
                tenant, traceparent, tracestate, warnings, encode(event, 'hex'), product, day,
                received_at = 'epoch'::timestamptz + receive_time * interval '1 microsecond'
            FROM hits ORDER BY rowid
            """)
        let records = try batch.records
        #expect(rows.count == 3)
        for (row, record) in zip(rows, records) {
            let isFirst = record.deliveryID == "56c4" && record.kind == .impression
            let kind = "\(record.kind)".split(separator: ".").last.map(String.init) ?? ""
            #expect(
                row == [
                    record.hitID.hex, kind, "\(record.campaignAction)", record.deliveryID,
                    record.broadlogID, isFirst ? "com.example.app" : "-",
                    isFirst ? "ios" : "android", record.event.subjectID,
                    isFirst ? "1799999999123456" : "-1", "\(TestHits.receiveTime)", "default",
                    record.traceContext.traceparent, "a=b",
                    row[13], try record.event.serializedData().hex, "standard", "2027-01-15", "t",
                ])
        }
    }

    @Test("a zero byte in a text becomes U+FFFD in its column, and stays in the event")
    func zeroByte() async throws {
        var event = TestEvents.full(id: 1)
        event.subjectID = "a\0b\0"
        let batch = try TestHits.batch([event, TestEvents.full(id: 2)])
        #expect(await (try PostgreSQLSink(self.configuration)).deliver(batch) == .delivered)
        #expect(try self.events() == ["a\u{fffd}b\u{fffd}", "subject-2"])
        let bytes = try self.database.value(
            "SELECT encode(event, 'hex') FROM hits ORDER BY rowid LIMIT 1")
        #expect(try Sightline_V1_TrackingEvent(serializedBytes: [UInt8](hex: bytes) ?? []) == event)
    }

    @Test("D20: the funnel counts notifications and leaves iOS out of the ratios")
    func funnel() async throws {
        var events = [TestEvents.push(.received, id: 1), TestEvents.push(.received, id: 2)]
        events += [TestEvents.push(.opened, id: 1), TestEvents.push(.received, id: 3, on: .ios)]
        // No impression of the funnel (D63).
        events.append(TestEvents.silent(TestEvents.push(.received, id: 4)))
        let sink = try PostgreSQLSink(self.configuration)
        #expect(await sink.deliver(try TestHits.batch(events)) == .delivered)
        let rows = try self.database.run("SELECT * FROM funnel")
        #expect(
            rows == [
                ["default", "56c4", "2", "1", "1", "0", "1", "0", "0.5000", "0.5000"]
                    + Array(repeating: "", count: 8)
            ])
    }

    @Test("D60: the funnel has each notification that was tried once, and the rates of those sent")
    func funnelOfSends() async throws {
        var events = [TestEvents.send(.failed, id: 1), TestEvents.send(.failed, id: 9)]
        events += (1...4).map { TestEvents.send(.sent, id: $0) }
        events += [TestEvents.send(.sent, id: 5, on: .ios), TestEvents.send(.skipped, id: 6)]
        events += [TestEvents.push(.received, id: 1), TestEvents.push(.opened, id: 1)]
        events += [TestEvents.push(.dismissed, id: 5, on: .ios)]
        let sink = try PostgreSQLSink(self.configuration)
        #expect(await sink.deliver(try TestHits.batch(events)) == .delivered)
        let rows = try self.database.run(
            """
            SELECT attempted, sent, failed, skipped, delivered_rate, impressions_of_delivered,
                open_rate, click_through_rate FROM funnel
            """)
        #expect(rows == [["6", "5", "2", "1", "0.8333", "0.2500", "0.2000", "0.4000"]])
    }

    // MARK: Days

    @Test("an event stands in its own day, unless its clock cannot be right")
    func days() async throws {
        let day: Int64 = 86_400
        let received = TestHits.receiveTime / 1_000_000
        var events: [Sightline_V1_TrackingEvent] = []
        for (id, age) in [(1, 0), (2, 7 * day), (3, 8 * day), (4, -day), (5, -2 * day)] {
            var event = TestEvents.full(id: id)
            event.occurTime.seconds = received - age
            events.append(event)
        }
        let sink = try PostgreSQLSink(self.configuration)
        #expect(await sink.deliver(try TestHits.batch(events)) == .delivered)
        let rows = try self.database.run("SELECT subject_id, day FROM hits ORDER BY rowid")
        let days = ["2027-01-15", "2027-01-08", "2027-01-15", "2027-01-16", "2027-01-15"]
        #expect(rows == zip(self.names(1...5), days).map { [$0, $1] })
        let tables = try self.database.run(
            "SELECT DISTINCT tableoid::regclass::text FROM stored_hits ORDER BY 1")
        #expect(tables.map { $0[0] } == ["hits_20270108", "hits_20270115", "hits_20270116"])
    }

    @Test("partitions are there for the days ahead, and old ones are dropped as a whole")
    func retention() async throws {
        let today = Mutex(CalendarDay(microseconds: TestHits.receiveTime))
        var configuration = self.configuration
        (configuration.retentionDays, configuration.aheadDays) = (10, 2)
        let sink = try PostgreSQLSink(
            configuration, today: { today.withLock { $0 } },
            retention: RetentionClock(.days, settling: .zero))
        #expect(await sink.deliver(try self.batch(1...1)) == .delivered)
        let partitions = """
            SELECT relname FROM pg_class
            WHERE relnamespace = current_schema::regnamespace AND relname LIKE 'hits\\_2%'
                AND relkind = 'r' ORDER BY 1
            """
        #expect(
            try self.database.run(partitions).map { $0[0] }
                == ["hits_20270115", "hits_20270116", "hits_20270117"])
        today.withLock { $0 = CalendarDay($0.number + 11) }
        #expect(await sink.deliver(try self.batch(2...2, sequence: 2)) == .delivered)
        // Its events are of the day that was dropped: the partition is made anew for it.
        #expect(try self.events() == ["subject-2"])
    }

    @Test("an id with a zero byte is erased, and not the id before it")
    func erasedZeroByte() async throws {
        let sink = try PostgreSQLSink(self.configuration)
        let ids = ["subject-1", "subject-1\0x"]
        let events = ids.enumerated().map { number, id in
            var event = TestEvents.full(id: number)
            event.subjectID = id
            return event
        }
        #expect(await sink.deliver(try TestHits.batch(events)) == .delivered)
        let subject = Subject(tenant: "default", ids: [ids[1]])
        #expect(await sink.erase(subject).end() == .erased(1))
        #expect(try self.events() == ["subject-1"])
    }

    @Test("partitions that are renamed or dropped between two pieces neither stay nor fail")
    func erasedInPieces() async throws {
        var configuration = self.configuration
        configuration.aheadDays = 2
        let sink = try PostgreSQLSink(
            configuration, today: { CalendarDay(microseconds: TestHits.receiveTime) })
        #expect(await sink.deliver(try self.batch(1...2)) == .delivered)
        let subject = Subject(tenant: "default", ids: ["subject-1"])
        let erasure = try await sink.erase(subject).end { count in
            guard count == 1 else { return }
            try self.database.run(
                "ALTER TABLE hits_20270115 RENAME TO renamed; DROP TABLE hits_20270117")
        }
        #expect(erasure == .erased(1))
        #expect(try self.events() == ["subject-2"])
    }

    @Test("without DDL the sink tells what is missing, and goes on once an operator has run it")
    func operatorsTables() async throws {
        var configuration = self.configuration
        configuration.migrates = false
        let sink = try PostgreSQLSink(configuration)
        let schema = PostgreSQLSchema(configuration.schema)
        self.expectUnavailable(
            await sink.deliver(try self.batch(1...3)), "sightline sinks sql postgresql")
        try self.database.run(schema.creation)
        self.expectUnavailable(
            await sink.deliver(try self.batch(1...3)), "create the day's partition")
        try self.database.run(
            schema.partitionCreation(CalendarDay(microseconds: TestHits.receiveTime)))
        #expect(await sink.deliver(try self.batch(1...3)) == .delivered)
        #expect(try self.events() == self.names(1...3))
    }

    @Test(
        "views of an earlier build, which know fewer kinds, are replaced if the sink may",
        arguments: [true, false])
    func olderViews(migrates: Bool) async throws {
        let schema = PostgreSQLSchema(self.configuration.schema)
        let newer = " WHEN 11 THEN 'sent' WHEN 12 THEN 'send_failed' WHEN 13 THEN 'send_skipped'"
        let older = schema.hits.replacing(newer, with: "")
        let shown = "AND NOT (kind = 1 AND warnings LIKE '%nothing_shown%')"
        let olderFunnel = schema.funnel.replacing(shown, with: "")
        #expect(older != schema.hits && olderFunnel != schema.funnel)
        try self.database.run(
            schema.creation + older + olderFunnel
                + schema.partitionCreation(CalendarDay(microseconds: TestHits.receiveTime)))
        var configuration = self.configuration
        configuration.migrates = migrates
        let batch = try TestHits.batch(
            [.sent, .failed, .skipped].map { TestEvents.send($0, id: 1) }
                + [TestEvents.silent(TestEvents.push(.received, id: 1))])
        #expect(await (try PostgreSQLSink(configuration)).deliver(batch) == .delivered)
        let kinds = "SELECT coalesce(kind, '-') FROM hits ORDER BY rowid"
        let named = [["sent"], ["send_failed"], ["send_skipped"], ["impression"]]
        let unnamed = [["-"], ["-"], ["-"], ["impression"]]
        #expect(try self.database.run(kinds) == (migrates ? named : unnamed))
        let impressions = "SELECT impressions FROM funnel"
        #expect(try self.database.run(impressions) == [[migrates ? "0" : "1"]])
        // Or else an operator runs the script again.
        try self.database.run(schema.creation)
        #expect(try self.database.run(kinds) == named)
        #expect(try self.database.run(impressions) == [["0"]])
    }

    @Test("a partition of an operator's own, of a month, is used")
    func monthly() async throws {
        try self.database.run(
            PostgreSQLSchema(self.configuration.schema).creation
                + "CREATE TABLE jan PARTITION OF stored_hits"
                + " FOR VALUES FROM ('2027-01-01') TO ('2027-02-01')")
        let sink = try PostgreSQLSink(self.configuration)
        #expect(await sink.deliver(try self.batch(1...3)) == .delivered)
        #expect(try self.database.value("SELECT count(*) FROM jan") == "3")
    }

    @Test("nodes that start at once make the tables once")
    func nodes() async throws {
        let configuration = self.configuration
        let batches = try (1...4).map { number in
            try TestHits.batch([TestEvents.full(id: number)], journal: "node-\(number)")
        }
        let answers = try await withThrowingTaskGroup(of: SinkAnswer.self) { group in
            for batch in batches {
                group.addTask { await (try PostgreSQLSink(configuration)).deliver(batch) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: .delivered, count: 4))
        #expect(Set(try self.events()) == Set(self.names(1...4)))
    }
}
