// URLs, days and rows, without a server.
internal import Foundation
@testable internal import PostgreSQLSink
internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing

struct PostgreSQLTextTests {
    @Test(
        "a URL is taken apart",
        arguments: [
            ("postgresql://a@db/c", "a", "c", ["db:5432"]),
            ("postgres://a%40b@db1,db2:5433/c%2Fd", "a@b", "c/d", ["db1:5432", "db2:5433"]),
            ("postgresql://a@[::1]:9,127.0.0.1/c", "a", "c", ["::1:9", "127.0.0.1:5432"]),
            ("postgresql://a@%2Frun%2Fpg:7/c", "a", "c", ["/run/pg:7"]),
        ])
    func urls(_ text: String, _ user: String, _ database: String, _ hosts: [String]) throws {
        let url = try PostgreSQLURL(text)
        #expect(url.user == user && url.database == database)
        #expect(url.hosts.map { "\($0.name):\($0.port)" } == hosts)
    }

    @Test("days are those of the calendar")
    func days() throws {
        let formatter = DateFormatter()
        formatter.calendar = Calendar(identifier: .gregorian)
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd"
        for number in stride(from: -130_000, through: 2_900_000, by: 997) {
            let text = formatter.string(from: Date(timeIntervalSince1970: Double(number) * 86_400))
            let day = CalendarDay(number)
            #expect(day.text == text)
            #expect(CalendarDay(compact: text.filter { $0 != "-" }) == day)
            #expect(CalendarDay(microseconds: Int64(number) * 86_400_000_000) == day)
            #expect(CalendarDay(microseconds: Int64(number) * 86_400_000_000 - 1).next == day)
        }
        #expect(PostgreSQLSchema.day(ofPartition: "hits_2026112") == nil)
        #expect(PostgreSQLSchema.day(ofPartition: "hits_20261324") == nil)
        #expect(PostgreSQLSchema.day(ofPartition: "hits_20260231") == nil)
        #expect(PostgreSQLSchema.day(ofPartition: "hits_rowid") == nil)
    }

    @Test("an error when connecting shows its code, and neither where it arose nor a value")
    func connecting() {
        let error = PostgreSQLError(
            reported: """
                connection to server at "db" (10.0.0.1), port 5432 failed: FATAL:  28P01: password \
                authentication failed for user "a"
                DETAIL:  hidden
                LOCATION:  auth_failed, auth.c:335
                """)
        #expect(error.state == "28P01")
        #expect(
            error.message == "connection to server at \"db\" (10.0.0.1), port 5432 failed: FATAL: "
                + "password authentication failed for user \"a\"")
    }

    @Test("once hits are sent, the server's words are for dead letters alone")
    func serversWords() {
        var error = PostgreSQLError(
            reported: """
                ERROR:  P0001: no such person: subject-1
                CONTEXT:  hidden subject-1
                """, isLost: true)
        error.constraint = "subject-1"
        #expect(error.description.contains("SQLSTATE P0001"))
        #expect(!error.description.contains("subject-1"), "\(error)")
        #expect(error.whole.contains("no such person: subject-1 (constraint subject-1)"))
        #expect(!error.whole.contains("hidden"))
        // What libpq finds out by itself has no code.
        let lost = PostgreSQLError(
            reported: "server closed the connection unexpectedly\n\tThis probably means\n",
            isLost: true)
        #expect(lost.description == "server closed the connection unexpectedly")
    }

    @Test(
        "errors are a row's, or the server's",
        arguments: [
            ("22021", "", true), ("23514", "c", true), ("23514", "", false), ("23505", "", true),
            ("42P01", "", false), ("53100", "", false), ("57P01", "", false), ("", "", false),
            ("P0001", "", true), ("38000", "", true), ("44000", "", true), ("P", "", false),
        ])
    func rows(_ state: String, _ constraint: String, _ isOfRow: Bool) {
        var error = PostgreSQLError(state: state, "what")
        error.constraint = constraint
        #expect(error.isOfRow == isOfRow)
    }

    @Test(
        "what a function raises is a row's, whatever its code, and its text may be a person's",
        arguments: ["P0001", "23514", "42501", "57P01", "BL001"])
    func raised(_ state: String) {
        var error = PostgreSQLError(raised: state, "subject-7 is not wanted")
        error.constraint = "subject-7"
        #expect(error.isOfRow && !error.lacksPartition)
        let told = "SQLSTATE \(state): a function of the database raised it"
        for text in [error.description, error.whole] {
            #expect(text.hasPrefix(told) && !text.contains("subject-7"), "\(text)")
        }
        #expect(error.code == "SQLSTATE \(state)")
        // To `sightline sinks try`, whose hit is nobody's, all is told.
        #expect(error.finding == "\(told): subject-7 is not wanted (constraint subject-7)")
    }

    @Test("rows are copied in a part for each run of them")
    func parts() throws {
        var rows = HitRows(lateDays: 7)
        try rows.encode(try TestHits.batch((1...9).map { TestEvents.full(id: $0) }), after: 0)
        for numbers in [[], [0], [0, 1, 2], [1, 3, 4, 8], Array(0...8), [0, 2, 4]] {
            let parts = rows.parts(numbers[...])
            #expect(
                parts.count
                    == numbers.indices.count { $0 == 0 || numbers[$0] != numbers[$0 - 1] + 1 })
            let bytes = parts.flatMap { [UInt8]($0) }
            #expect(bytes == numbers.flatMap { [UInt8](rows.bytes($0..<($0 + 1))) })
        }
    }

    @Test("a row's fields are as many as the columns, and end where the next row begins")
    func form() throws {
        var rows = HitRows(lateDays: 7)
        let batch = try TestHits.batch(
            (1...50).map { $0 % 2 == 0 ? TestEvents.full(id: $0) : TestEvents.opened(id: $0) })
        try rows.encode(batch, after: 0)
        #expect(rows.rows.map(\.position) == Array(0..<batch.hitCount))
        #expect(rows.days.count == 1)
        for row in 0..<batch.hitCount {
            let bytes = [UInt8](rows.bytes(row..<(row + 1)))
            func number(_ place: Int, _ count: Int) -> Int {
                bytes[place..<(place + count)].reduce(0) { $0 << 8 | Int($1) }
            }
            #expect(number(0, 2) == PostgreSQLSchema.columns.count)
            var place = 2
            for _ in PostgreSQLSchema.columns {
                let length = Int(Int32(truncatingIfNeeded: number(place, 4)))
                place += 4 + max(0, length)
            }
            #expect(place == bytes.count)
        }
        try rows.encode(batch, after: 1)
        #expect(rows.rows.isEmpty && rows.days.isEmpty)
    }
}
