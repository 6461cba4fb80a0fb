// Reports by when hits happened, their series, and the zones in which days begin.
internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

@testable internal import TrackingReport

struct OccurrenceTests {
    private static let hour: Int64 = 3_600_000_000
    /// 2027-01-15T08:00:00Z.
    private static let received = HitsDatabase.receiveTime

    private static func at(
        _ time: Int64, _ event: Sightline_V1_TrackingEvent
    ) -> Sightline_V1_TrackingEvent {
        var event = event
        event.occurTime = Google_Protobuf_Timestamp.with {
            $0.seconds = time / 1_000_000
            $0.nanos = Int32(time % 1_000_000) * 1000
        }
        return event
    }

    @Test("D17, D20: by occurrence the report agrees with the hits in the order of their times")
    func agreement() async throws {
        var dice = Dice(seed: Dice.runSeed)
        let database = try HitsDatabase()
        for _ in 0..<30 {
            let events = (0..<20).map { _ in
                Self.at(
                    Self.received - Int64(dice.below(6 * Int(Self.hour))),
                    HitCountsTests.event(&dice))
            }
            try await database.deliver(events, tenant: dice.pick(["shop", "bank"]))
        }
        let hits = try database.hits().map { hit in
            var hit = hit
            let time = hit.event.occurTime
            hit.receiveTime = time.seconds * 1_000_000 + Int64(time.nanos / 1000)
            return hit
        }
        let ordered = hits.enumerated().sorted {
            ($0.element.receiveTime, $0.offset) < ($1.element.receiveTime, $1.offset)
        }.map(\.element)
        for (since, until) in [(nil, nil), (-3, nil), (-5, -2)] as [(Int64?, Int64?)] {
            let range = (
                since.map { Self.received + $0 * Self.hour },
                until.map { Self.received + $0 * Self.hour }
            )
            let report = try database.report { query in
                (query.since, query.until) = range
                query.isByOccurrence = true
                query.isByApp = true
                query.step = .hour
            }
            let counted = CountedHits(ordered, since: range.0, until: range.1, isByApp: true)
            #expect(
                Set(report.deliveries.rows.map { CountedHits.text($0) }) == counted.deliveries,
                "seed \(Dice.runSeed)")
            #expect(
                Set(report.inAppMessages.rows.map { CountedHits.text($0) }) == counted.messages,
                "seed \(Dice.runSeed)")
            let series = try #require(report.series)
            let sum = series.rows.reduce(0) { $0 + $1.others.total + $1.ios.total }
            #expect(sum == report.deliveries.hits + report.inAppMessages.hits)
        }
        #expect(try database.report { $0.isByOccurrence = true }.inAppMessages.rows.count > 0)
    }

    @Test("D41: a time after the receipt, before 1970 or none at all counts by the receipt")
    func clocks() async throws {
        let database = try HitsDatabase()
        let early = Self.received - 30 * Self.hour
        try await database.deliver([
            Self.at(Self.received + Self.hour, TestEvents.push(.received, id: 1)),
            Self.at(-Self.hour, TestEvents.push(.received, id: 2)),
            TestEvents.push(.received, id: 3), Self.at(early, TestEvents.push(.received, id: 4)),
        ])
        let change: (inout ReportQuery) -> Void = { $0.isByOccurrence = true }
        let report = try database.report(change)
        #expect(report.deliveries.rows.map(\.firstReceived) == [early])
        #expect(report.deliveries.rows.map(\.lastReceived) == [Self.received])
        #expect(report.range == "by when it happened" && report.notes.isEmpty)
        let timeline = try #require(try database.timeline(change))
        #expect(timeline.steps.map(\.total).filter { $0 > 0 } == [1, 3])
        let late = try database.report {
            $0.isByOccurrence = true
            $0.since = Self.received
        }
        #expect(late.deliveries.hits == 3)
        #expect(late.range == "happened from 2027-01-15T08:00:00.000Z")
    }

    @Test(
        "a series has a row for each delivery and step with a hit, and days begin in their zone",
        arguments: [
            ("UTC", ["2027-01-14T00:00:00.000Z 1", "2027-01-15T00:00:00.000Z 2"]),
            (
                "Asia/Tokyo",
                ["2027-01-15T00:00:00.000+09:00 1", "2027-01-15T00:00:00.000+09:00 2"]
            ),
            (
                "America/New_York",
                ["2027-01-14T00:00:00.000-05:00 1", "2027-01-15T00:00:00.000-05:00 2"]
            ),
        ])
    func zones(_ name: String, days: [String]) async throws {
        let database = try HitsDatabase()
        try await database.deliver(
            [TestEvents.push(.received, id: 1)], at: Self.received - 16 * Self.hour)
        try await database.deliver([TestEvents.push(.opened, id: 1, on: .ios)])
        let zone = try #require(ReportZone(named: name))
        let series = try #require(
            try database.report {
                ($0.zone, $0.step) = (zone, .day)
            }.series)
        let told = series.rows.flatMap { row in
            let start = ReportTime.text(row.start, in: zone)
            return [(row.others.impressions, " 1"), (row.ios.clicks + row.ios.opens, " 2")]
                .filter { $0.0 > 0 }.map { start + $0.1 }
        }
        #expect(told == days)
        #expect(series.rows.count == Set(days.map { $0.dropLast(2) }).count)
        #expect(ReportZone(named: "Mars/Phobos") == nil)
    }

    @Test("each form of the series has the same figures, and what a product lacks is empty")
    func forms() async throws {
        let database = try HitsDatabase()
        try await database.deliver([
            TestEvents.push(.received, id: 1), TestEvents.push(.dismissed, id: 1),
            TestEvents.push(.received, id: 1, delivery: "77", product: .classic),
            TestEvents.inApp(.dismissal(.init()), id: 1, message: "=m"),
            TestEvents.send(.failed, id: 1), TestEvents.send(.sent, id: 1),
            TestEvents.send(.sent, id: 2), TestEvents.send(.sent, id: 3, on: .ios),
        ])
        let series = try #require(try database.report { $0.step = .hour }.series)
        let start = "2027-01-15T08:00:00.000Z"
        #expect(
            series.sheet() == [
                "tenant,product,id,start,impressions,clicks,dismissals,opens,ios_impressions,"
                    + "ios_clicks,ios_dismissals,ios_opens,further_hits,sent,ios_sent",
                "default,standard,56c4,\(start),1,1,1,0,0,0,0,0,1,2,1",
                "default,classic,77,\(start),1,0,,,0,0,,,0,0,0",
                "default,firebase,'=m,\(start),0,0,1,,0,0,0,,0,0,0",
            ])
        #expect(
            series.lines().contains {
                $0.hasPrefix("default  56c4      standard  2027-01-15 08:00")
            })
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys]
        let json = String(decoding: try encoder.encode(series), as: UTF8.self)
        #expect(
            json.hasPrefix("{\"left_out_hits\":0,\"rows\":[{\"clicks\":1,\"delivery_id\":\"56c4\""))
        #expect(json.hasSuffix("\"step\":\"hour\",\"time_zone\":\"UTC\"}"))
    }

    @Test("at the limit each step has its row, and the hits of further ones are counted")
    func limit() async throws {
        let database = try HitsDatabase()
        for hours: Int64 in 0..<3 {
            try await database.deliver(
                [TestEvents.push(.received, id: Int(hours))], at: Self.received + hours * Self.hour)
        }
        for (maxRows, rows, leftOut) in [(3, 3, 0), (2, 2, 1)] {
            let series = try database.series(by: .hour, maxRows: maxRows)
            #expect(series.rows.count == rows && series.leftOutHits == leftOut)
            #expect((leftOut > 0) == series.lines().contains("… and 1 hits in further rows"))
        }
    }

    @Test(
        "today and yesterday begin at midnight of the zone, also where a day has 23 hours",
        arguments: [
            ("UTC", "today", "2026-03-29T00:00:00.000Z"),
            ("UTC", "yesterday", "2026-03-28T00:00:00.000Z"),
            ("Europe/Berlin", "today", "2026-03-30T00:00:00.000+02:00"),
            ("Europe/Berlin", "yesterday", "2026-03-29T00:00:00.000+01:00"),
            ("Europe/Berlin", "2026-03-30", "2026-03-30T00:00:00.000+02:00"),
            ("Europe/Berlin", "1h", "2026-03-30T00:30:00.000+02:00"),
        ])
    func days(_ name: String, _ text: String, told: String) throws {
        let zone = try #require(ReportZone(named: name))
        // 2026-03-29T23:30:00Z.
        let now: Int64 = 1_774_827_000_000_000
        let time = try #require(ReportTime.parse(text, now: now, in: zone))
        #expect(ReportTime.text(time, in: zone) == told)
    }
}
