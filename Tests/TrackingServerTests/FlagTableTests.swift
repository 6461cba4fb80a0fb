// Every row of the tracking flag's truth table, through the whole service.
internal import Foundation
internal import ServerTestSupport
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct FlagTableTests {
    /// One row: the flag as a client sends it, and what becomes of it.
    private struct Row {
        let flag: String?
        let platform: Sightline_V1_Platform
        let verdict: Sightline_V1_Verdict
        let isAssumedOn: Bool
    }

    private static func rows() throws -> [Row] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/flag-truth-table.csv")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst()
        return try lines.map { line in
            let cells = line.split(separator: ",").map(String.init)
            try #require(cells.count == 3)
            let flag = cells[0].trimmingCharacters(in: ["\""])
            let verdict = cells[2].split(separator: "+").map(String.init)
            return Row(
                flag: flag == "<absent>" ? nil : flag == "<empty>" ? "" : flag,
                platform: cells[1] == "ios" ? .ios : .android,
                verdict: try #require(Self.verdicts[verdict[0]]),
                isAssumedOn: verdict.dropFirst() == ["flag_assumed_on"])
        }
    }

    private static let verdicts: [String: Sightline_V1_Verdict] = [
        "accepted": .accepted, "suppressed_flag_off": .suppressedFlagOff,
        "suppressed_flag_unknown": .suppressedFlagUnknown,
    ]

    /// Records one event for each row, and holds each result against its row.
    private func check(
        assumes: Bool, _ event: (Row, String) -> Sightline_V1_TrackingEvent
    ) async throws {
        let rows = try Self.rows()
        #expect(rows.count == 26)
        let events = rows.enumerated().map { event($1, "h\($0)") }
        let outcome = try await RunningServer.with { server in
            try await WireClient.with(server) { try await $0.record(events) }
        }
        let results = try #require(outcome.answers.first).results
        try #require(results.count == rows.count)
        for (row, result) in zip(rows, results) {
            #expect(result.verdict == row.verdict, "\(row)")
            let warns = result.warnings.contains(.flagAssumedOn)
            #expect(warns == (row.isAssumedOn && assumes), "\(row)")
            #expect(result.hits.isEmpty == (row.verdict != .accepted), "\(row)")
        }
    }

    @Test(
        "D1 to D7: the flag decides alike for received, dismissed and opened",
        arguments: [Sightline_V1_PushInteractionKind.received, .dismissed, .opened])
    func push(_ kind: Sightline_V1_PushInteractionKind) async throws {
        try await self.check(assumes: true) { row, id in
            TestEvents.push(id, kind, flag: row.flag, platform: row.platform)
        }
    }

    @Test("D7: a TrackAction goes by the event's platform, and an absent flag gives no warning")
    func trackAction() async throws {
        try await self.check(assumes: false) { row, id in
            .with { event in
                event.platform = row.platform
                event.trackAction.broadlogID = id
                event.trackAction.deliveryID = "56c4"
                event.trackAction.action = .click
                if let flag = row.flag { event.trackAction.acsDeliveryTracking = flag }
            }
        }
    }
}
