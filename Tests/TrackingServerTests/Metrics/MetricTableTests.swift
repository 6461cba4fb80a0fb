// docs/metrics.md and the program, held together: a row for each metric, to the letter.
internal import AdminServer
internal import Foundation
internal import HTTPDoor
internal import Telemetry
internal import Testing
internal import TrackingRules
@testable internal import TrackingServer

struct MetricTableTests {
    private static func unit(_ metric: MetricDescription) -> String {
        let words = metric.name.split(separator: "_").filter { !["total", "ended"].contains($0) }
        switch words.last {
        case "info": return ""
        case let word?: return String(word)
        case nil: return ""
        }
    }

    private static let rows = MetricDescription.server.map { metric in
        "| `\(metric.name)` | \(metric.kind.rawValue) |"
            + " \(metric.labels.map { "`\($0)`" }.joined(separator: ", ")) |"
            + " \(Self.unit(metric)) | \(metric.help) |"
    }

    private static func document() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "docs/metrics.md"), encoding: .utf8)
    }

    @Test("docs/metrics.md has the row of every metric, in order, and no other")
    func table() throws {
        let lines = try Self.document().split(separator: "\n")
        let written = lines.prefix { !$0.hasPrefix("## Labels") }.filter { $0.hasPrefix("| `") }
        #expect(written.map(String.init) == Self.rows)
    }

    @Test("docs/metrics.md names every value that a label of ours can have")
    func labels() throws {
        let document = try Self.document()
        let values =
            Verdict.allCases.map { "\($0.name)" } + Violation.Code.allCases.map { "\($0.name)" }
            + HitKind.allCases.map { "\($0.name)" } + RequestMethod.allCases.map(\.rawValue)
            + RequestOutcome.allCases.map(\.name) + PostbackOutcome.allCases.map(\.rawValue)
            + UpstreamOutcome.allCases.map(\.rawValue)
        #expect(values.filter { !document.contains("`\($0)`") } == [])
    }

    @Test("names say their unit as Prometheus wants it, and counters alone end in _total")
    func names() {
        for metric in MetricDescription.server {
            #expect(metric.name.hasPrefix("sightline_") || metric.name.hasPrefix("process_"))
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
            #expect(!metric.help.isEmpty && !metric.help.hasSuffix("."))
            #expect(metric.bounds == metric.bounds.sorted())
        }
        let names = MetricDescription.server.map(\.name)
        #expect(Set(names).count == names.count)
    }
}
