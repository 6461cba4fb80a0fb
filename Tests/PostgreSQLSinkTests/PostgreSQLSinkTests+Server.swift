// Servers that are busy, wrong or not there.
internal import Foundation
@testable internal import PostgreSQLSink
internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing

extension PostgreSQLSinkTests {
    @Test(
        "what is an operator's matter is told with its code and what to do",
        arguments: [
            ("sightline", "nowhere", "SQLSTATE 3D000", "correct postgresql.url"),
            ("nobody", "postgres", "SQLSTATE 28", "pg_hba.conf"),
            ("sightline_reader", "postgres", "SQLSTATE 42501", "docs/sinks/postgresql.md"),
        ])
    func operatorsMatter(
        _ user: String, _ database: String, _ code: String, _ advice: String
    ) async throws {
        try self.database.run(
            """
            DO $$ BEGIN
                CREATE ROLE sightline_reader LOGIN;
            EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$
            """)
        var configuration = self.configuration
        let host = try #require(configuration.url.split(separator: "@").last?.split(separator: "/"))
        let known = database == "nowhere" ? "postgres" : user
        configuration.url = "postgresql://\(known)@\(host[0])/\(database)"
        let answer = await (try PostgreSQLSink(configuration)).deliver(try self.batch(1...1))
        self.expectUnavailable(answer, code)
        self.expectUnavailable(answer, advice)
    }

    @Test("hosts are tried in turn, and the first that is there is used")
    func hosts() async throws {
        var configuration = self.configuration
        // Nothing listens on port 1.
        configuration.url = configuration.url.replacingOccurrences(of: "@", with: "@127.0.0.1:1,")
        let sink = try PostgreSQLSink(configuration)
        #expect(await sink.deliver(try self.batch(1...2)) == .delivered)
        configuration.url = "postgresql://postgres@127.0.0.1:1,127.0.0.1:2/postgres"
        let answer = await (try PostgreSQLSink(configuration)).deliver(try self.batch(1...1))
        self.expectUnavailable(answer, "port 1 ")
        self.expectUnavailable(answer, "port 2 ")
    }

    @Test("a database in another encoding is refused: it could not hold every text")
    func encoding() async throws {
        let name = self.configuration.schema
        try self.database.run(
            "CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' "
                + "LC_CTYPE 'C'")
        var configuration = self.configuration
        configuration.url = configuration.url.replacingOccurrences(
            of: ":5432/postgres", with: ":5432/\(name)")
        self.expectUnavailable(
            await (try PostgreSQLSink(configuration)).deliver(try self.batch(1...1)),
            "encoding is LATIN1")
    }

    @Test("a session that the server ends is made anew, and a read-only server is waited for")
    func ended() async throws {
        let sink = try PostgreSQLSink(self.configuration)
        #expect(await sink.deliver(try self.batch(1...1)) == .delivered)
        // Only this test's sessions have locked this table, or could.
        try self.database.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE query LIKE '%\(self.configuration.schema)%' AND pid <> pg_backend_pid()
            """)
        self.expectUnavailable(await sink.deliver(try self.batch(2...2, sequence: 2)), "57P01")
        #expect(await sink.deliver(try self.batch(2...2, sequence: 2)) == .delivered)
        #expect(try self.events() == self.names(1...2))
    }

    @Test("a batch that takes too long is stored in parts, and whole ones follow")
    func slow() async throws {
        var configuration = self.configuration
        configuration.statementTimeout = .seconds(1)
        let sink = try PostgreSQLSink(configuration)
        #expect(await sink.deliver(try self.batch(1...1)) == .delivered)
        try self.database.run(
            """
            CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_sleep(0.002); RETURN new; END';
            CREATE TRIGGER slow BEFORE INSERT ON stored_hits FOR EACH ROW EXECUTE FUNCTION slow()
            """)
        let batch = try self.batch(1001...2000, sequence: 2)
        var answers = 0
        while answers < 10, await sink.deliver(batch) != .delivered { answers += 1 }
        #expect((1..<10).contains(answers))
        #expect(try self.events().sorted() == self.names([1] + Array(1001...2000)).sorted())
        #expect(try self.database.value("SELECT sequence FROM cursor") == "2")
    }

    @Test("a cancelled delivery ends although the server is silent")
    func cancelled() async throws {
        let listener = try SilentListener()
        var configuration = self.configuration
        configuration.url = "postgresql://postgres@127.0.0.1:\(listener.port)/postgres"
        configuration.connectTimeout = .seconds(60)
        let sink = try PostgreSQLSink(configuration)
        let batch = try self.batch(1...1)
        let start = ContinuousClock.now
        let delivery = Task { await sink.deliver(batch) }
        delivery.cancel()
        self.expectUnavailable(await delivery.value, "the server stops")
        #expect(start.duration(to: .now) < .seconds(30))
    }
}
