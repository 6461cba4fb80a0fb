// The path of an event from a client to the sink's file, over a real socket.
internal import Foundation
internal import GRDB
internal import ServerTestSupport
internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct JourneyTests {
    @Test("events are streamed, judged, made durable, and stand in hits.db with their trace")
    func journey() async throws {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        var opened = TestEvents.push("h1")
        opened.traceContext.traceparent = "00-\(trace)-00f067aa0ba902b7-01"
        opened.traceContext.tracestate = "vendor=1"
        let events = [
            opened,
            TestEvents.push("h2", .received),
            TestEvents.push("h3", flag: "off"),
            TestEvents.push("h1"),
            TestEvents.push(""),
        ]
        try await TestDirectory.with { directory in
            // A server listens, and a client streams events to it…
            let results = try await RunningServer.run(in: directory) { server in
                try await SightlineClient.send(events, to: server.address)
            }
            // …each event has its verdict…
            #expect(
                results.map(\.verdict) == [
                    .accepted, .accepted, .suppressedFlagOff, .duplicate, .rejected,
                ])
            #expect(results.map(\.eventID) == ["h1", "h2", "h3", "h1", ""])
            #expect(results.first?.hits == [.click, .open])
            // …and after the server's graceful shutdown the sink holds every hit, in order.
            let hits = try Self.hits(directory)
            #expect(hits.map(\.broadlogID) == ["h1", "h1", "h2"])
            #expect(hits.map(\.kind) == ["click", "open", "impression"])
            #expect(hits.allSatisfy { $0.traceparent.hasPrefix("00-\(trace)-") })
            #expect(hits.allSatisfy { !$0.traceparent.contains("00f067aa0ba902b7") })
            #expect(hits.map(\.tracestate) == ["vendor=1", "vendor=1", "vendor=1"])
            #expect(try Sightline_V1_TrackingEvent(serializedBytes: hits[0].event) == opened)
        }
    }

    @Test("D17: what was durable is a duplicate for the server that is started next")
    func restart() async throws {
        try await TestDirectory.with { directory in
            for verdict in [Sightline_V1_Verdict.accepted, .duplicate] {
                try await RunningServer.run(in: directory) { server in
                    let results = try await SightlineClient.send(
                        [TestEvents.push("h1")], to: server.address)
                    #expect(results.map(\.verdict) == [verdict])
                }
            }
            #expect(try Self.hits(directory).count == 2)
        }
    }

    private struct Hit {
        let kind: String
        let broadlogID: String
        let traceparent: String
        let tracestate: String
        let event: [UInt8]
    }

    private static func hits(_ directory: String) throws -> [Hit] {
        try DatabaseQueue.hits(in: directory).read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM hits ORDER BY rowid").map { row in
                Hit(
                    kind: row["kind"], broadlogID: row["broadlog_id"],
                    traceparent: row["traceparent"] ?? "", tracestate: row["tracestate"] ?? "",
                    event: Array(row["event"] as Data))
            }
        }
    }
}
