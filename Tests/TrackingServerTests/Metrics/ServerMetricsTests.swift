// What a running server counts of what its clients send.
internal import AdminServer
@testable internal import Credentials
internal import GRPCCore
@testable internal import HTTP2Edge
@testable internal import ServerConfiguration
internal import ServerTestSupport
internal import SightlineProtos
internal import Telemetry
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules
@testable internal import TrackingServer

@Suite(.timeLimit(.minutes(10)))
struct ServerMetricsTests {
    /// The exposition's lines, by what stands before the value; those of buckets are left out.
    private static func lines(_ registry: MetricsRegistry) -> [String: Double] {
        let lines = PrometheusText.text(registry.families()).split(separator: "\n")
            .filter { !$0.hasPrefix("#") && !$0.contains("_bucket") }
            .compactMap { line in line.lastIndex(of: " ").map { (line, $0) } }
        return Dictionary(
            uniqueKeysWithValues: lines.map { line, space in
                (String(line[..<space]), Double(line[line.index(after: space)...]) ?? .nan)
            })
    }

    /// Lines that begin like this and are not 0.
    private static func counted(
        _ lines: [String: Double], _ prefix: String
    ) -> [String: Double] {
        lines.filter { $0.key.hasPrefix(prefix) && $0.value != 0 }
    }

    @Test("events, hits, requests and times are counted once each, by stream and by single calls")
    func counts() async throws {
        let requests = [
            try TestEvents.request(
                1, [TestEvents.push("h1"), TestEvents.push("h1"), TestEvents.push("no good")]),
            [0xff, 0xff],
            try TestEvents.request(
                2, [TestEvents.push("h2", .received), TestEvents.push("h3", flag: "off")]),
        ]
        let lines = try await RunningServer.with { server in
            try await WireClient.with(server) { client in
                _ = try await client.stream(requests)
                _ = try await client.record([TestEvents.push("h4"), TestEvents.push("")])
                _ = try await client.explain([TestEvents.push("h5")])
            }
            return Self.lines(server.metrics)
        }
        #expect(
            Self.counted(lines, "sightline_events_total") == [
                #"sightline_events_total{verdict="accepted",reason=""}"#: 3,
                #"sightline_events_total{verdict="duplicate",reason=""}"#: 1,
                #"sightline_events_total{verdict="suppressed_flag_off",reason=""}"#: 1,
                #"sightline_events_total{verdict="rejected",reason="format"}"#: 1,
                #"sightline_events_total{verdict="rejected",reason="required"}"#: 1,
            ])
        #expect(
            Self.counted(lines, "sightline_hits_total") == [
                #"sightline_hits_total{kind="click"}"#: 2, #"sightline_hits_total{kind="open"}"#: 2,
                #"sightline_hits_total{kind="impression"}"#: 1,
            ])
        #expect(
            Self.counted(lines, "sightline_requests_total") == [
                #"sightline_requests_total{method="StreamEvents",outcome="answered"}"#: 2,
                #"sightline_requests_total{method="StreamEvents",outcome="refused"}"#: 1,
                #"sightline_requests_total{method="RecordEvents",outcome="answered"}"#: 1,
                #"sightline_requests_total{method="ExplainEvents",outcome="answered"}"#: 1,
            ])
        #expect(lines["sightline_ack_duration_seconds_count"] == 4)
        let groups = try #require(lines["sightline_journal_groups_total"])
        #expect((1...3).contains(groups))
        #expect(lines["sightline_commit_duration_seconds_count"] == groups)
        #expect(Self.counted(lines, "sightline_refusals_total") == [:])
        let bytes = requests.map(\.count).reduce(0, +)
        #expect(try #require(lines["sightline_received_bytes_total"]) > Double(bytes))
        #expect(lines["sightline_metrics_dropped_series_total"] == 0)
    }

    @Test(
        "every metric that was declared has a series at once, but for those of what is not there")
    func complete() async throws {
        let names = try await RunningServer.with { Set($0.metrics.families().map(\.name)) }
        #expect(
            Set(MetricDescription.server.map(\.name)).subtracting(names) == [
                MetricDescription.certificateExpiry.name, MetricDescription.spans.name,
                // This server reads no configuration again.
                MetricDescription.reloadSucceeded.name, MetricDescription.reloadTime.name,
                // Only the kafka sink has brokers.
                MetricDescription.sinkQueuedHits.name, MetricDescription.connectedBrokers.name,
                MetricDescription.brokerRoundTrip.name, MetricDescription.brokerRetries.name,
                MetricDescription.brokerTimeouts.name,
            ])
    }

    @Test("calls that end with an error are counted by their reason")
    func refusals() async throws {
        let refused = try await RunningServer.with { server in
            try await WireClient.with(server) { client in
                let again = try TestEvents.request(1)
                #expect(try await client.stream([again, again]).error != nil)
                let tooMany = (0...Limits().requestEvents).map { TestEvents.push("h\($0)") }
                #expect(try await client.record(tooMany).error != nil)
            }
            return Self.lines(server.metrics)
        }
        #expect(
            Self.counted(refused, "sightline_refusals_total") == [
                #"sightline_refusals_total{reason="sequence_not_rising"}"#: 1,
                #"sightline_refusals_total{reason="request_too_large"}"#: 1,
            ])
        #expect(
            refused[#"sightline_requests_total{method="RecordEvents",outcome="refused"}"#] == 1)
    }

    @Test("what a full journal refuses is to be sent again, and counts so")
    func retryLater() async throws {
        let lines = try await RunningServer.with { configuration in
            configuration.journal.maxBytes = 1
        } _: { server in
            try await WireClient.with(server) { client in
                _ = try await client.stream([try TestEvents.request(1, [TestEvents.push("h1")])])
            }
            return Self.lines(server.metrics)
        }
        #expect(
            Self.counted(lines, "sightline_requests_total") == [
                #"sightline_requests_total{method="StreamEvents",outcome="retry_later"}"#: 1
            ])
        #expect(lines[#"sightline_events_total{verdict="retry_later",reason=""}"#] == 1)
        #expect(lines["sightline_journal_limit_bytes"] == 1)
    }

    @Test("what is settled when nobody takes answers any longer is counted too")
    func abandoned() async throws {
        let journal = try Self.diskless()
        let metrics = ServerMetrics()
        do {
            let budget = MemoryBudget(hardBytes: 1 << 20, softPercent: 80)
            let memory = budget.share(of: "default")
            let acks = AckQueue(maxRequests: 9, maxBytes: 1 << 20, memory: memory) {
                metrics.count($0, of: .streamEvents)
            }
            let intake = RequestIntake(
                ingest: Ingest(
                    admission: Admission(), journal: journal, budget: budget,
                    quotas: try TenantQuotas(QuotaConfiguration()), metrics: metrics),
                tenant: .standard, acks: acks, memory: memory, metadata: [:])
            try intake.admit(RequestBuffer(try TestEvents.request(1, [TestEvents.push("no good")])))
            intake.submit()
            acks.abandon()
        }
        await journal.close()
        let lines = Self.lines(metrics.registry)
        #expect(lines[#"sightline_events_total{verdict="rejected",reason="format"}"#] == 1)
        #expect(lines["sightline_admission_duration_seconds_count"] == 1)
    }

    private static func diskless() throws -> Journal {
        try Journal(directory: "", sinks: [], configuration: .diskless, onFailure: { _ in })
    }
}
