// Batches that come again, and rows that the server refuses.
internal import Foundation
@testable internal import PostgreSQLSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

extension PostgreSQLSinkTests {
    private func joined(_ groups: ClosedRange<Int>) throws -> HitBatch {
        HitBatch(
            joining: try groups.map { number in
                try self.batch((number * 10)...(number * 10 + 2), sequence: Int64(number))
            })
    }

    private func expected(_ groups: ClosedRange<Int>) -> [String] {
        self.names(groups.flatMap { ($0 * 10)...($0 * 10 + 2) })
    }

    private var cursor: [String] {
        get throws {
            try self.database.run(
                "SELECT journal, sequence, hit_id IS NOT NULL FROM cursor"
            ).first ?? []
        }
    }

    @Test("groups that come again in other batches are stored once, over one session or several")
    func repeats() async throws {
        let batches = try [1...3, 1...3, 2...4, 1...5, 5...6, 2...2, 7...7].map(self.joined)
        for isOneSession in [true, false] {
            var sink = try PostgreSQLSink(self.configuration)
            for batch in batches {
                #expect(await sink.deliver(batch) == .delivered)
                if !isOneSession { sink = try PostgreSQLSink(self.configuration) }
            }
        }
        #expect(try self.events().sorted() == self.expected(1...7).sorted())
        #expect(try self.cursor == ["j", "7", "t"])
    }

    @Test("what two nodes have is stored once")
    func twoNodes() async throws {
        let events = (1...300).map { TestEvents.full(id: $0) }
        for journal in ["a", "b"] {
            let sink = try PostgreSQLSink(self.configuration)
            let part = journal == "a" ? events[..<200] : events[100...]
            let batch = try TestHits.batch(Array(part), journal: journal)
            #expect(await sink.deliver(batch) == .delivered)
        }
        #expect(Set(try self.events()) == Set(self.names(1...300)))
        #expect(try self.database.value("SELECT count(*) FROM hits") == "300")
    }

    @Test("a journal that was put back to an older copy loses nothing to the cursor")
    func olderCopy() async throws {
        let sink = try PostgreSQLSink(self.configuration)
        #expect(await sink.deliver(try self.joined(1...5)) == .delivered)
        // The same numbers, other hits.
        let other = HitBatch(
            joining: try [
                self.batch(101...103, sequence: 4), self.batch(104...106, sequence: 5),
            ])
        let restored = try PostgreSQLSink(self.configuration)
        restored.resume(at: "3")
        #expect(await restored.deliver(other) == .delivered)
        #expect(
            try self.events().sorted() == (self.expected(1...5) + self.names(101...106)).sorted())
    }

    @Test("a database that was put back is a loss, told once; then it gets everything again")
    func loss() async throws {
        var sink = try PostgreSQLSink(self.configuration)
        for number in 1...3 {
            #expect(await sink.deliver(try self.joined(number...number)) == .delivered)
        }
        #expect(sink.resumeToken == "3")
        try self.database.run("UPDATE cursor SET sequence = 1; DELETE FROM stored_hits")
        let token = sink.resumeToken
        sink = try PostgreSQLSink(self.configuration)
        sink.resume(at: token)
        let answer = await sink.deliver(try self.joined(4...4))
        #expect(
            answer
                == .dataLoss(
                    reason: "the database has this journal up to 1, but 3 was committed"))
        #expect(await sink.deliver(try self.joined(1...4)) == .delivered)
        #expect(try self.events() == self.expected(1...4))
    }

    @Test("a replay moves no cursor, and stores what is not there")
    func replay() async throws {
        let sink = try PostgreSQLSink(self.configuration)
        #expect(await sink.deliver(try self.joined(1...2)) == .delivered)
        let again = try TestHits.batch(
            (10...40).map { TestEvents.full(id: $0) }, journal: "replay-1")
        for _ in 0..<2 { #expect(await sink.deliver(again) == .delivered) }
        #expect(Set(try self.events()) == Set(self.names(10...40)))
        #expect(try self.database.value("SELECT count(*) FROM hits") == "31")
        #expect(try self.database.run("SELECT journal, sequence FROM cursor") == [["j", "2"]])
        #expect(sink.resumeToken == "2")
    }

    // MARK: Rows that are refused

    private static let constraint = """
        ALTER TABLE stored_hits ADD CONSTRAINT small
        CHECK (right(subject_id, 2) NOT IN ('77', '78', '99'))
        """

    @Test("rows that a constraint refuses are found among a thousand, and all others are stored")
    func refused() async throws {
        var sink = try PostgreSQLSink(self.configuration)
        #expect(await sink.deliver(try self.batch(1...10)) == .delivered)
        try self.database.run(Self.constraint)
        let batch = try self.batch(1001...2000, sequence: 2)
        // Again: the cursor must not hide what was refused.
        for isKnown in [false, true] {
            guard case .rejected(let reasons) = await sink.deliver(batch) else {
                Issue.record("not rejected, known: \(isKnown)")
                return
            }
            #expect(reasons.count == 30)
            #expect(reasons.keys.allSatisfy { [76, 77, 98].contains($0 % 100) })
            #expect(reasons.values.allSatisfy { $0.contains("SQLSTATE 23514") })
            #expect(reasons.values.allSatisfy { $0.contains("(constraint small)") })
            // Values are a person's.
            #expect(!reasons.values.contains { $0.contains("subject-") })
            #expect(try self.database.value("SELECT count(*) FROM hits") == "980")
            #expect(try self.cursor == ["j", "2", "f"])
            sink = try PostgreSQLSink(self.configuration)
            sink.resume(at: "2")
        }
        #expect(await sink.deliver(try self.batch(3...3, sequence: 3)) == .delivered)
    }

    @Test("why the sink waits is told without a trigger's words, which may name a person")
    func raisedForAll() async throws {
        var configuration = self.configuration
        configuration.maxRefused = 3
        let sink = try PostgreSQLSink(configuration)
        #expect(await sink.deliver(try self.batch(1...10)) == .delivered)
        try self.database.run(
            """
            CREATE FUNCTION raising() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN RAISE EXCEPTION 'not %', new.subject_id; END$$;
            CREATE TRIGGER raising BEFORE INSERT ON stored_hits
                FOR EACH ROW EXECUTE FUNCTION raising()
            """)
        let answer = await sink.deliver(try self.batch(11...20, sequence: 2))
        self.expectUnavailable(answer, "SQLSTATE P0001")
        #expect(!"\(answer)".contains("subject-"), "\(answer)")
    }

    @Test(
        "if too many rows are refused, and a test hit too, it is the table's fault: none is stored")
    func tooManyRefused() async throws {
        var configuration = self.configuration
        configuration.maxRefused = 29
        let sink = try PostgreSQLSink(configuration)
        #expect(await sink.deliver(try self.batch(1...10)) == .delivered)
        try self.database.run(
            "ALTER TABLE stored_hits ADD CONSTRAINT never CHECK (false) NOT VALID")
        // Up to the limit they are dead letters, and one more is one too many.
        guard case .rejected(let reasons) = await sink.deliver(try self.batch(11...39, sequence: 2))
        else { Issue.record("no rejections"); return }
        #expect(reasons.count == 29)
        let batch = try self.batch(1001...2000, sequence: 3)
        for _ in 0..<2 {
            self.expectUnavailable(await sink.deliver(batch), "postgresql.max_refused")
        }
        #expect(try self.database.value("SELECT count(*) FROM hits") == "10")
        try self.database.run("ALTER TABLE stored_hits DROP CONSTRAINT never")
        #expect(await sink.deliver(batch) == .delivered)
        #expect(try self.database.value("SELECT count(*) FROM hits") == "1010")
    }

    /// A batch of some hits of a tenant each, in groups of their own.
    private func joined(
        _ groups: [(tenant: String, ids: ClosedRange<Int>)], from sequence: Int64
    ) throws -> HitBatch {
        HitBatch(
            joining: try groups.enumerated().map { number, group in
                try TestHits.batch(
                    group.ids.map { TestEvents.full(id: $0) },
                    sequence: sequence + Int64(number), tenant: group.tenant)
            })
    }

    @Test("a tenant whose rows are refused stops no other: they become its dead letters, and told")
    func oneTenantRefused() async throws {
        var configuration = self.configuration
        configuration.maxRefused = 5
        let log = KeptLog()
        let sink = try PostgreSQLSink(configuration, logger: log.logger)
        #expect(await sink.deliver(try self.joined([("good", 1...1)], from: 1)) == .delivered)
        try self.database.run(
            "ALTER TABLE stored_hits ADD CONSTRAINT fair CHECK (tenant <> 'bad') NOT VALID")
        // Alone in its batch, and then among others: nobody waits.
        let batches = try [
            self.joined(
                [("bad", 1001...2000), ("bad", 2001...3000), ("bad", 3001...3100)], from: 2),
            self.joined([("good", 11...20), ("bad", 4001...4050), ("fine", 21...30)], from: 5),
        ]
        for (batch, expected) in zip(batches, [0..<2100, 10..<60]) {
            guard case .rejected(let reasons) = await sink.deliver(batch) else {
                Issue.record("no rejections")
                return
            }
            #expect(reasons.keys.sorted() == Array(expected))
            #expect(
                reasons.values.allSatisfy {
                    $0.contains("SQLSTATE 23514 (constraint fair)")
                        || $0.contains("SQLSTATE 23514: ")
                })
        }
        #expect(Set(try self.events()) == Set(self.names([1] + Array(11...30))))
        let told = log.metadata(of: "too many hits of a tenant are refused")
        #expect(told.map { $0["tenant"] } == ["bad"])
    }

    @Test("the rows of a tenant to blame are found one by one again once some are stored")
    func mended() async throws {
        var configuration = self.configuration
        configuration.maxRefused = 2
        let sink = try PostgreSQLSink(configuration)
        #expect(await sink.deliver(try self.batch(1...1)) == .delivered)
        try self.database.run(Self.constraint)
        // 77, 78 and 99 of each hundred: the third is one too many, and the rest goes as a piece.
        guard
            case .rejected(let reasons) = await sink.deliver(
                try self.batch(1001...1200, sequence: 2))
        else { Issue.record("no rejections"); return }
        #expect(Set(reasons.keys).isSuperset(of: [76, 77, 98]))
        #expect(try self.events().contains("subject-1001"))
        #expect(await sink.deliver(try self.batch(2001...2050, sequence: 3)) == .delivered)
        guard
            case .rejected(let next) = await sink.deliver(try self.batch(3001...3077, sequence: 4))
        else { Issue.record("no rejections"); return }
        #expect(Array(next.keys) == [76])
    }

    @Test(
        "a row for which a trigger raises an exception is found, whatever the code, and no other waits",
        arguments: [
            "", "USING ERRCODE = 'check_violation'", "USING ERRCODE = 'BL001'",
            "USING ERRCODE = 'insufficient_privilege'",
        ])
    func raised(_ code: String) async throws {
        let sink = try PostgreSQLSink(self.configuration)
        #expect(await sink.deliver(try self.batch(1...1)) == .delivered)
        try self.database.run(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF NEW.subject_id IN ('subject-12', 'subject-15') THEN
                    RAISE EXCEPTION 'no %', NEW.subject_id \(code);
                END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER refuse AFTER INSERT ON stored_hits
                FOR EACH ROW EXECUTE FUNCTION refuse()
            """)
        let answer = await sink.deliver(try self.batch(11...20, sequence: 2))
        guard case .rejected(let reasons) = answer else { Issue.record("\(answer)"); return }
        #expect(reasons.keys.sorted() == [1, 4])
        #expect(reasons.values.allSatisfy { $0.contains("SQLSTATE") && $0.contains("raised") })
        #expect(!reasons.values.contains { $0.contains("subject-") })
        #expect(try self.events().count == 9)
    }

    @Test("a constraint that is checked at the commit is found as well")
    func deferred() async throws {
        let sink = try PostgreSQLSink(self.configuration)
        #expect(await sink.deliver(try self.batch(1...1)) == .delivered)
        try self.database.run(
            """
            CREATE TABLE subjects (id text PRIMARY KEY);
            INSERT INTO subjects SELECT 'subject-' || n FROM generate_series(1, 50) n;
            ALTER TABLE stored_hits ADD FOREIGN KEY (subject_id) REFERENCES subjects
                DEFERRABLE INITIALLY DEFERRED
            """)
        let answer = await sink.deliver(try self.batch(41...52, sequence: 2))
        guard case .rejected(let reasons) = answer else { Issue.record("\(answer)"); return }
        #expect(reasons.keys.sorted() == [10, 11])
        #expect(try self.events() == self.names([1] + Array(41...50)))
    }
}
