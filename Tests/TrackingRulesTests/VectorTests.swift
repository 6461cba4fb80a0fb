// The published vectors of docs/vectors: each event has its verdict, hits and hit ids.
internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct VectorTests {
    /// A row: an event, and what has to come of it.
    private struct Row {
        struct Hit: Decodable, Equatable {
            let kind: String
            let hit_id: String
        }

        struct Violation: Decodable, Equatable {
            let field: String
            let code: String
        }

        /// What the row expects; hit-ids.json has hits alone.
        struct Expectation: Decodable {
            let name: String
            let hits: [Hit]
            let verdict: String?
            let warnings: [String]?
            let violations: [Violation]?
            let tenant: String?
        }

        let event: Sightline_V1_TrackingEvent
        let expected: Expectation

        static func all(_ file: String) throws -> [Self] {
            let data = try Vectors.data(file)
            let events = try #require(
                try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
            let expected = try JSONDecoder().decode([Expectation].self, from: data)
            return try zip(events, expected).map { row, expected in
                let event = try #require(row["event"] as? [String: Any])
                let json = try JSONSerialization.data(withJSONObject: event)
                return Self(
                    event: try Sightline_V1_TrackingEvent(jsonUTF8Data: json), expected: expected)
            }
        }

        func hits(_ kinds: [HitKind]) throws -> [Hit] {
            let tenant = Array((self.expected.tenant ?? "default").utf8)
            return try self.event.bytes().withUnsafeBytes { bytes in
                let key = try tenant.withUnsafeBytes { tenant in
                    try EventView(bytes).withRawPayload(Limits()) { event, _ in
                        event.keys(tenant: tenant).fact
                    }
                }
                return kinds.map { kind in
                    Hit(
                        kind: "HIT_KIND_" + "\(kind.name)".uppercased(),
                        hit_id: key.hitID(kind).hex)
                }
            }
        }
    }

    @Test(
        "each published event has its verdict, hits, warnings and violations",
        arguments: [("flag-table", 160), ("verdicts", 130), ("raw-payloads", 45)])
    func verdicts(file: String, count: Int) throws {
        let rows = try Row.all(file)
        #expect(rows.count > count)
        for row in rows {
            let judgement = try row.event.judged()
            let expected = row.expected
            #expect(
                "VERDICT_" + "\(judgement.verdict)".snakeCase.uppercased() == expected.verdict,
                "\(expected.name)")
            #expect(try row.hits(judgement.hits.kinds) == expected.hits, "\(expected.name)")
            #expect(
                judgement.warnings.names.map { "WARNING_\($0.uppercased())" }
                    == expected.warnings, "\(expected.name)")
            let violations = judgement.violations.map {
                Row.Violation(
                    field: $0.field,
                    code: "VIOLATION_CODE_\("\($0.code)".snakeCase.uppercased())")
            }
            #expect(violations == expected.violations, "\(expected.name)")
        }
    }

    @Test("D17, D30: each published hit id is the hash of its key")
    func hitIDs() throws {
        let rows = try Row.all("hit-ids")
        #expect(rows.count > 20)
        for row in rows {
            let kinds = try row.event.judged().hits.kinds
            #expect(try row.hits(kinds) == row.expected.hits, "\(row.expected.name)")
        }
    }
}
