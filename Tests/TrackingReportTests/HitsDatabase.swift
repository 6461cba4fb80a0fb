// A hits.db that the real sink has written, and reports of it.
internal import Foundation
internal import GRDB
internal import Pacing
internal import SQLiteSink
internal import SightlineProtos
internal import SinkKit
internal import SwiftProtobuf
internal import Synchronization
internal import TestSupport
internal import TrackingReport
internal import TrackingRules
internal import W3CTrace

/// A database in a directory of its own, removed with it.
final class HitsDatabase {
    /// When hits are received where a test does not care: 2027-01-15T08:00:00Z.
    static let receiveTime: Int64 = 1_800_000_000_000_000

    private let directory: TemporaryDirectory
    private let sink: SQLiteSink
    private var sequence: Int64 = 0
    private let clock: Clock

    /// The day of the server's clock, since 1970.
    private final class Clock: Sendable {
        let day: Mutex<Int>

        init(_ day: Int) { self.day = Mutex(day) }
    }

    /// A database whose server's clock stands at this day, by default that of `receiveTime`. It
    /// keeps all hits, and knows each for ever.
    init(today: Int = Int(HitsDatabase.receiveTime / 86_400_000_000)) throws {
        var configuration = SQLiteConfiguration()
        (configuration.retainDays, configuration.uniqueDays) = (0, 3650)
        let clock = Clock(today)
        self.clock = clock
        self.directory = try TemporaryDirectory()
        self.sink = try SQLiteSink(
            path: self.directory.file("hits.db"), configuration,
            today: { clock.day.withLock { $0 } },
            retention: RetentionClock(.days, settling: .zero))
    }

    /// Sets the server's clock to a day.
    func set(today: Int) { self.clock.day.withLock { $0 = today } }

    /// Delivers the hits of events, as the service would.
    func deliver(
        _ events: [Sightline_V1_TrackingEvent], tenant: String = "default",
        at receiveTime: Int64 = HitsDatabase.receiveTime, from source: EventSource = .api
    ) async throws {
        let message =
            try Sightline_V1_StreamEventsRequest.with { $0.events = events }
            .serializedBytes() as [UInt8]
        let admission = Admission()
        let request = message.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: tenant,
                receiveTime: receiveTime, source: source)
        }
        var generator = SystemRandomNumberGenerator()
        let header = HitEncoding.header(
            entryCount: request.acceptedEvents.count, entriesBytes: request.entries.count,
            receiveTime: receiveTime, tenant: tenant,
            trace: TraceContext.random(isSampled: true, using: &generator))
        self.sequence += 1
        let batch = HitBatch(
            journal: "j", sequence: self.sequence, payload: header + request.entries)
        guard await self.sink.deliver(batch) == .delivered else { throw NotDelivered() }
    }

    /// All hits in the order in which they came.
    func hits() throws -> [ReadHit] {
        try self.open(readonly: true).read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM hits ORDER BY rowid").map { row in
                ReadHit(
                    kind: row["kind"], deliveryID: row["delivery_id"],
                    broadlogID: row["broadlog_id"], app: row["app_id"] ?? "",
                    isIOS: row["platform"] as String? == "ios", subject: row["subject_id"] ?? "",
                    receiveTime: row["receive_time"], tenant: row["tenant"],
                    warnings: Warnings(names: row["warnings"]),
                    event: try Sightline_V1_TrackingEvent(serializedBytes: row["event"] as Data))
            }
        }
    }

    /// A report through a connection of its own, as the command reads one while the server runs.
    func report(
        names: DeliveryNames? = nil, _ change: (inout ReportQuery) -> Void = { _ in }
    ) throws -> Report {
        let query = Self.query(change)
        return try self.open(readonly: true).read { try Report(query, names: names, in: $0) }
    }

    /// The in-app messages or push notifications by use.
    func details(
        _ subject: UseDetails.Subject = .inApp, maxUses: Int = UseDetails.maxUses,
        _ change: (inout ReportQuery) -> Void = { _ in }
    ) throws -> UseDetails {
        let query = Self.query(change)
        return try self.open(readonly: true).read {
            try UseDetails(query, of: subject, in: $0, maxUses: maxUses)
        }
    }

    /// What a connection of its own reads.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try self.open(readonly: true).read(body)
    }

    /// The notifications that were never sent.
    func neverSent(
        maxRows: Int = NeverSent.maxRows, _ change: (inout ReportQuery) -> Void = { _ in }
    ) throws -> NeverSent {
        let query = Self.query(change)
        return try self.open(readonly: true).read {
            try NeverSent(query, in: $0, maxRows: maxRows)
        }
    }

    /// A series of all hits.
    func series(by step: ReportSeries.Step, maxRows: Int) throws -> ReportSeries {
        try self.open(readonly: true).read {
            try ReportSeries(ReportQuery(), by: step, in: $0, maxRows: maxRows)
        }
    }

    /// A ratio of each delivery, as a person reads it from the view `funnel`.
    func viewed(_ ratio: String) throws -> [Double?] {
        try self.open(readonly: true).read {
            try Row.fetchAll($0, sql: "SELECT \(ratio) FROM funnel ORDER BY tenant, delivery_id")
                .map { $0[0] }
        }
    }

    /// The timeline of the same query.
    func timeline(_ change: (inout ReportQuery) -> Void = { _ in }) throws -> Timeline? {
        let query = Self.query(change)
        return try self.open(readonly: true).read { try Timeline(query, in: $0) }
    }

    /// How SQLite runs a query.
    func plan(_ sql: String, _ arguments: StatementArguments) throws -> String {
        try self.open(readonly: true).read { database in
            try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: arguments)
                .map { $0["detail"] ?? "" }.joined(separator: "; ")
        }
    }

    /// Runs a statement that no build would.
    func change(_ sql: String) throws {
        try self.open(readonly: false).write { try $0.execute(sql: sql) }
    }

    private static func query(_ change: (inout ReportQuery) -> Void) -> ReportQuery {
        var query = ReportQuery()
        change(&query)
        return query
    }

    func open(readonly: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = readonly
        return try DatabaseQueue(
            path: self.directory.file("hits.db"), configuration: configuration)
    }

    struct NotDelivered: Error {}
}
