// A fact that is sent again long after it was counted, and its rows in hits.db.
internal import Delivery
internal import Foundation
internal import GRDB
@testable internal import Pacing
internal import SQLiteSink
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingJournal
@testable internal import TrackingRules
internal import W3CTrace

final class ResentFactTests: Sendable {
    /// Other facts between a fact and its return: SIGHTLINE_TEST_FACTS, or as many as take a
    /// second.
    private static let others =
        ProcessInfo.processInfo.environment["SIGHTLINE_TEST_FACTS"].flatMap { Int($0) } ?? 20_000
    private static let factsPerBatch = 10_000
    private static let firstDay = 20_000
    private static let uniqueDays = 30
    /// Facts are forgotten a part at a time, a quarter of `unique_days` later at most.
    private static let lastDay = firstDay + uniqueDays + uniqueDays / 4

    private let directory: TemporaryDirectory
    private let today = Mutex(firstDay)

    init() throws { self.directory = try TemporaryDirectory() }

    private func sink() throws -> SQLiteSink {
        var configuration = SQLiteConfiguration()
        configuration.uniqueDays = Self.uniqueDays
        return try SQLiteSink(
            path: self.directory.file("hits.db"), configuration,
            today: { self.today.withLock { $0 } },
            retention: RetentionClock(.days, settling: .zero))
    }

    /// A fact of each form whose hits are looked up in a way of their own.
    private static func facts() -> [Sightline_V1_TrackingEvent] {
        var button = TestEvents.push(.opened, id: 2)
        button.push.actionIdentifier = "reply"
        let inApp = Sightline_V1_TrackingEvent.with { event in
            event.eventID = "event"
            event.subjectID = "subject"
            event.inApp.messageID = "welcome"
            event.inApp.click.actionURL = "app://sale"
        }
        return [
            TestEvents.push(.opened, id: 1), button, TestEvents.action(.button1, id: 3), inApp,
            TestEvents.full(id: 4), TestEvents.inApp(.triggered(.init()), id: 5, subject: "s"),
            TestEvents.inApp(.suppressed(.init()), id: 6, subject: "s"),
        ]
    }

    /// The next part of the others: keys are hashes, so random ones are as good as any.
    private static func others(
        _ count: Int, sequence: Int64, at time: Int64, _ dice: inout Dice
    ) throws -> HitBatch {
        let event: [UInt8] = try TestEvents.push(.received, id: 5).serializedBytes()
        var entries: [UInt8] = []
        for _ in 0..<count {
            let key = HitKey(high: dice.next(), low: dice.next() & ~0xff)
            try event.withUnsafeBytes {
                let kinds = HitKinds(.impression)
                entries.appendEntry(
                    try JournalEvent(parsing: $0, key: key, kinds: kinds, warnings: []),
                    kinds: kinds)
            }
        }
        let header = HitEncoding.header(
            entryCount: count, entriesBytes: entries.count, receiveTime: time, tenant: "default",
            trace: .random(isSampled: true, using: &dice))
        let group = JournalBatch(
            sequence: sequence, eventCount: count, hitCount: count, payload: header + entries)
        return HitBatch(journal: "j", joining: [group])
    }

    private func time() -> Int64 { Int64(self.today.withLock { $0 }) * 86_400_000_000 }

    /// How often each of these hits has a row; then all rows, by the partitions and by the counts.
    private func rows(of ids: [Data]) throws -> [Int] {
        try DatabaseQueue(inUse: self.directory.file("hits.db")).read { database in
            let marks = databaseQuestionMarks(count: ids.count)
            let found = try Row.fetchAll(
                database,
                sql: "SELECT hit_id, count(*) FROM hits WHERE hit_id IN (\(marks)) GROUP BY 1",
                arguments: StatementArguments(ids))
            let times = Dictionary(
                uniqueKeysWithValues: found.map { ($0[0] as Data, $0[1] as Int) })
            let totals = try ["partitions", "counts"].map {
                try Int.fetchOne(database, sql: "SELECT sum(hits) FROM \($0)") ?? 0
            }
            return ids.map { times[$0] ?? 0 } + totals
        }
    }

    /// When the facts come again, how often they have been counted then, and whether the file is
    /// opened anew before.
    private static let returns: [(what: String, day: Int, isReopened: Bool, times: Int)] = [
        ("after the others", firstDay, false, 1),
        ("after a restart", firstDay, true, 1),
        ("on the next day", firstDay + 1, false, 1),
        ("on the next day after a restart", firstDay + 1, true, 1),
        ("on the last of the days", firstDay + uniqueDays, false, 1),
        ("on the last of the days after a restart", firstDay + uniqueDays, true, 1),
        ("once they are forgotten", lastDay, true, 2),
        ("and once more", lastDay, true, 2),
    ]

    @Test("D17: facts that come again after many others, restarts and days count once")
    func resent() async throws {
        var dice = Dice(seed: Dice.runSeed)
        print("ResentFactTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed), \(Self.others) others")
        var sink = try self.sink()
        var sequence: Int64 = 1
        let first = try TestHits.batch(Self.facts(), at: self.time())
        let ids = try first.records.map(\.hitID)
        #expect(ids.count == 9)
        #expect(await sink.deliver(first) == .delivered)
        for start in stride(from: 0, to: Self.others, by: Self.factsPerBatch) {
            sequence += 1
            let count = min(Self.factsPerBatch, Self.others - start)
            let batch = try Self.others(count, sequence: sequence, at: self.time(), &dice)
            #expect(await sink.deliver(batch) == .delivered)
        }
        for (what, day, isReopened, times) in Self.returns {
            self.today.withLock { $0 = day }
            if isReopened { sink = try self.sink() }
            sequence += 1
            let again = try TestHits.batch(Self.facts(), sequence: sequence, at: self.time())
            #expect(await sink.deliver(again) == .delivered)
            let all = Self.others + ids.count * times
            let expected = [Int](repeating: times, count: ids.count) + [all, all]
            #expect(try self.rows(of: ids) == expected, "\(what), seed \(Dice.runSeed)")
        }
    }
}
