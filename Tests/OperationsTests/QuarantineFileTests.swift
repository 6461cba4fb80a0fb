internal import Foundation
internal import GRDB
@testable internal import Operations
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules

struct QuarantineFileTests {
    private static let day: Int64 = 86_400_000_000

    private func file(
        _ directory: String, _ configure: (inout QuarantineConfiguration) -> Void = { _ in }
    ) throws -> QuarantineFile {
        var configuration = QuarantineConfiguration()
        configure(&configuration)
        return try QuarantineFile(
            directory: directory, configuration, version: "1.2", logger: nil)
    }

    private func event(
        _ id: String, of tenant: String = "a", at time: Int64 = 0, app: String = "app",
        delivery: String = "56c4", _ violations: [Violation] = [Violation("f", .format, "")],
        verdict: Verdict = .rejected, padding: Int = 0
    ) throws -> QuarantinedEvent {
        QuarantinedEvent(
            tenant: tenant, receiveTime: time, verdict: verdict, violations: violations,
            event: try Sightline_V1_TrackingEvent.with {
                $0 = TestEvents.push(id)
                $0.appID = app
                $0.push.fcm.data.deliveryID = delivery
                $0.subjectID = String(repeating: "s", count: padding)
            }.serializedBytes(), appID: app, deliveryID: delivery)
    }

    private func ids(
        _ file: QuarantineFile, _ filter: QuarantineFilter = QuarantineFilter()
    ) async throws -> [String] {
        var (ids, after) = ([String](), Int64(0))
        while true {
            let rows = try await file.rows(filter, after: after, through: .max)
            guard let last = rows.last else { return ids }
            after = last.id
            ids += try rows.map {
                try Sightline_V1_TrackingEvent(serializedBytes: $0.event.event).eventID
            }
        }
    }

    @Test("events are kept as they were sent, in order, in a file of the owner's own")
    func roundTrip() async throws {
        try await TestDirectory.with { directory in
            let file = try self.file(directory)
            let events = try (0..<2500).map { try self.event("h\($0)", at: Int64($0)) }
            let (kept, evicted, bytes) = try await file.keep(events, now: 0)
            #expect(
                kept == 2500 && evicted == 0 && bytes > events.reduce(0) { $0 + $1.event.count })
            #expect(try await self.ids(file) == (0..<2500).map { "h\($0)" })
            let first = try await file.rows(QuarantineFilter(), after: 0, through: 1)
            #expect(first.map(\.event.event) == [events[0].event])
            #expect(first.map(\.event.receiveTime) == [0])
            let attributes = try FileManager.default.attributesOfItem(
                atPath: directory + "/quarantine.db")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("events that come while others are searched keep no erasure from its end")
    func erasureBesideOthers() async throws {
        try await TestDirectory.with { directory in
            let file = try self.file(directory)
            _ = try await file.keep([try self.event("gone", padding: 3)], now: 0)
            var pieces = 1
            let gone = Subject(tenant: "a", ids: ["sss"])
            let erasure = try await file.erase(gone).end { count in
                pieces = count + 1
                guard count < 9 else { return }
                _ = try await file.keep([try self.event("h\(count)", padding: 4)], now: 0)
            }
            #expect(erasure == .erased(1))
            // The event that was there, none before it, and the file's log.
            #expect(pieces == 3)
            #expect(try await self.ids(file) == ["h1", "h2"])
        }
    }

    /// A filter by its conditions, and the events that meet it.
    struct FilterRow: Sendable {
        let conditions: [(String, String)]
        let ids: [String]
    }

    @Test(
        "a filter takes the events that meet all of its conditions",
        arguments: [
            FilterRow(conditions: [], ids: ["1", "2", "3", "4"]),
            FilterRow(conditions: [("code", "FORMAT")], ids: ["1", "2"]),
            FilterRow(conditions: [("code", "too_large")], ids: ["2", "3"]),
            FilterRow(conditions: [("code", "range")], ids: []),
            FilterRow(conditions: [("field", "push.id")], ids: ["1", "3"]),
            FilterRow(conditions: [("field", "id")], ids: []),
            FilterRow(conditions: [("field", "push")], ids: []),
            FilterRow(conditions: [("field", "%")], ids: []),
            FilterRow(conditions: [("code", "format"), ("field", "push.id")], ids: ["1"]),
            FilterRow(conditions: [("code", "format"), ("field", "event")], ids: []),
            FilterRow(conditions: [("tenant", "b")], ids: ["4"]),
            FilterRow(conditions: [("app", "other")], ids: ["2"]),
            FilterRow(conditions: [("delivery", "77")], ids: ["3"]),
            FilterRow(conditions: [("verdict", "suppressed_flag_unknown")], ids: ["4"]),
            FilterRow(conditions: [("since", "20")], ids: ["2", "3", "4"]),
            FilterRow(conditions: [("until", "20")], ids: ["1"]),
            FilterRow(conditions: [("since", "20"), ("until", "40")], ids: ["2", "3"]),
            FilterRow(conditions: [("tenant", "a"), ("app", "none")], ids: []),
        ])
    func filter(_ row: FilterRow) async throws {
        try await TestDirectory.with { directory in
            let file = try self.file(directory)
            _ = try await file.keep(
                [
                    self.event("1", at: 10, [Violation("push.id", .format, "")]),
                    self.event(
                        "2", at: 20, app: "other",
                        [Violation("a.b", .format, ""), Violation("event", .tooLarge, "")]),
                    self.event("3", at: 30, delivery: "77", [Violation("push.id", .tooLarge, "")]),
                    self.event("4", of: "b", at: 40, [], verdict: .suppressedFlagUnknown),
                ], now: 0)
            var filter = QuarantineFilter()
            for (name, value) in row.conditions { try filter.add(name, value) }
            #expect(try await self.ids(file, filter) == row.ids)
        }
    }

    @Test(
        "a condition that is none is refused, with those that there are",
        arguments: [
            ("colour", "red", "code, field"), ("code", "wrong", "too_large"),
            ("verdict", "accepted", "suppressed_flag_unknown"), ("since", "soon", "microseconds"),
        ])
    func wrongConditions(_ name: String, _ value: String, _ words: String) {
        var filter = QuarantineFilter()
        let error = #expect(throws: QuarantineFilterError.self) { try filter.add(name, value) }
        #expect(error?.description.contains(words) == true)
    }

    @Test("an event is kept for quarantine.retain_days, and goes a microsecond later")
    func age() async throws {
        try await TestDirectory.with { directory in
            let file = try self.file(directory) { $0.retainDays = 2 }
            _ = try await file.keep([self.event("old", at: 0), self.event("new", at: 5)], now: 0)
            _ = try await file.keep([], now: 2 * Self.day)
            #expect(try await self.ids(file) == ["old", "new"])
            _ = try await file.keep([], now: 2 * Self.day + 1)
            #expect(try await self.ids(file) == ["new"])
        }
    }

    @Test("what a clock that was wrong for a start has left holds up no later event's end")
    func ageAmongOthers() async throws {
        try await TestDirectory.with { directory in
            var file = try self.file(directory) { $0.retainDays = 7 }
            let ahead = try (0..<600).map { try self.event("ahead\($0)", at: 40 * Self.day) }
            _ = try await file.keep(ahead, now: 40 * Self.day)
            file = try self.file(directory) { $0.retainDays = 7 }
            _ = try await file.keep([self.event("old", at: 0)], now: 0)
            for day: Int64 in [2, 4, 6, 7] { _ = try await file.keep([], now: day * Self.day) }
            #expect(try await self.ids(file).last == "old")
            _ = try await file.keep([self.event("new", at: 8 * Self.day)], now: 8 * Self.day)
            #expect(try await self.ids(file) == (0..<600).map { "ahead\($0)" } + ["new"])
        }
    }

    @Test("beyond quarantine.max_bytes the oldest events of the tenant that has most go first")
    func eviction() async throws {
        try await TestDirectory.with { directory in
            let file = try self.file(directory) { $0.maxBytes = 1 << 20 }
            let quiet = try (0..<500).map { try self.event("quiet\($0)", of: "b", padding: 200) }
            _ = try await file.keep(quiet, now: 0)
            var evicted = 0
            for round in 0..<20 {
                let loud = try (0..<500).map {
                    try self.event("loud\(round * 500 + $0)", padding: 200)
                }
                let kept = try await file.keep(loud, now: 0)
                evicted += kept.evicted
                #expect(kept.bytes <= 1 << 20)
            }
            let ids = try await self.ids(file)
            #expect(ids.count { $0.hasPrefix("quiet") } == 500)
            let loud = ids.filter { $0.hasPrefix("loud") }
            #expect(loud.count == 10_000 - evicted && !loud.isEmpty)
            #expect(loud == (evicted..<10_000).map { "loud\($0)" })
        }
    }

    @Test("what is in a file of the limit stays, and one page more evicts")
    func evictionAtTheLimit() async throws {
        try await TestDirectory.with { directory in
            let events = try (0..<1000).map { try self.event("h\($0)", padding: 200) }
            let used = try await self.file(directory).keep(events, now: 0).bytes
            let same = try self.file(directory) { $0.maxBytes = used }
            #expect(try await same.keep([], now: 0) == (0, 0, used))
            let smaller = try self.file(directory) { $0.maxBytes = used - 1 }
            let (_, evicted, bytes) = try await smaller.keep([], now: 0)
            #expect(evicted > 0 && bytes < used)
        }
    }

    @Test("what is settled is deleted, and not a byte of it stays; what is refused stays, renewed")
    func settle() async throws {
        try await TestDirectory.with { directory in
            let file = try self.file(directory)
            _ = try await file.keep([self.event("gone"), self.event("stays")], now: 0)
            var rows = try await file.rows(QuarantineFilter(), after: 0, through: .max)
            let event = QuarantinedEvent(
                tenant: "a", receiveTime: 0, verdict: .suppressedFlagUnknown, violations: [],
                event: rows[1].event.event, appID: "app", deliveryID: "56c4")
            try await file.settle(
                [rows[0]], refused: [QuarantineFile.Row(id: rows[1].id, event: event)])
            rows = try await file.rows(QuarantineFilter(), after: 0, through: .max)
            #expect(rows.map(\.event) == [event])
            let database = try DatabaseQueue(path: directory + "/quarantine.db")
            try await database.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
            let bytes = try Data(contentsOf: URL(filePath: directory + "/quarantine.db"))
            #expect(bytes.range(of: Data("gone".utf8)) == nil)
            #expect(bytes.range(of: Data("stays".utf8)) != nil)
        }
    }

    @Test("the ids of deleted events are never given again, so a recovery ends where it began")
    func ids() async throws {
        try await TestDirectory.with { directory in
            let file = try self.file(directory)
            _ = try await file.keep([self.event("1")], now: 0)
            let rows = try await file.rows(QuarantineFilter(), after: 0, through: .max)
            try await file.settle(rows, refused: [])
            _ = try await file.keep([self.event("2")], now: 0)
            #expect(try await file.lastID() == 2)
        }
    }
}
