// The summary of what was counted: when it speaks, and what it says.
internal import AdminServer
internal import CoreMetrics
internal import Logging
internal import Synchronization
internal import Telemetry
internal import TestSupport
internal import Testing
@testable internal import TrackingServer

struct LogSummaryTests {
    /// Keeps the records of a logger.
    private struct KeepingHandler: LogHandler {
        let records: Records
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { nil }
            set {}
        }

        func log(event: LogEvent) { self.records.add(event) }
    }

    private final class Records: Sendable {
        private let kept = Mutex<[LogEvent]>([])
        func add(_ event: LogEvent) { self.kept.withLock { $0.append(event) } }
        var all: [LogEvent] { self.kept.withLock { $0 } }
    }

    /// Does each step within an interval, and stops within the one after them, as a shutdown does;
    /// what was slept before.
    private func run(
        _ metrics: ServerMetrics, _ steps: [() -> Void]
    ) async throws -> (records: [LogEvent], sleeps: [Duration]) {
        let records = Records()
        let clock = TestClock(maxSleeps: 0)
        let logger = Logger(label: "test") { _ in KeepingHandler(records: records) }
        let summary = LogSummary(
            of: metrics.registry, every: .seconds(7), logger: logger, clock: clock)
        let running = Task { try await summary.run() }
        for step in steps {
            await clock.waitUntilStuck()
            step()
            clock.advance(by: .seconds(7))
        }
        await clock.waitUntilStuck()
        running.cancel()
        try await running.value
        return (records.all, clock.sleeps.dropLast())
    }

    @Test(
        "each record tells what came since the last one, the last one at the stop, and silence nothing"
    )
    func growth() async throws {
        let metrics = ServerMetrics()
        let accepted = metrics.registry.counter(.events, "accepted", "")
        let format = metrics.registry.counter(.events, "rejected", "format")
        let range = metrics.registry.counter(.events, "rejected", "range")
        accepted.increment(by: 5)
        let (records, sleeps) = try await self.run(
            metrics,
            [
                {}, { metrics.countRefusal(.overloaded) }, {},
                {
                    format.increment(by: 2)
                    range.increment()
                },
                { accepted.increment() },
            ])
        #expect(sleeps == Array(repeating: .seconds(7), count: 5))
        #expect(records.allSatisfy { $0.message == "summary" && $0.level == .info })
        let lag: Logger.Metadata = [
            "lag_groups": .number(0), "lag_seconds": .stringConvertible(0.0),
        ]
        #expect(
            records.map(\.metadata) == [
                lag.merging(["accepted": .number(5)]) { $1 },
                lag.merging(["refusals": ["overloaded": .number(1)]]) { $1 },
                lag.merging(["rejected": .number(3)]) { $1 },
                lag.merging(["accepted": .number(1)]) { $1 },
            ])
    }

    @Test("what is counted after the last interval is told at the stop")
    func stop() async throws {
        let metrics = ServerMetrics()
        metrics.registry.counter(.hits, "click").increment(by: 4)
        let (records, sleeps) = try await self.run(metrics, [])
        #expect(sleeps == [] && records.count == 1)
        #expect(records.first?.metadata?["hits"] == .number(4))
    }

    @Test("a sink that is behind is told of again and again")
    func lag() async throws {
        let metrics = ServerMetrics()
        metrics.registry.meter(.sinkLagGroups, "a").set(2)
        metrics.registry.meter(.sinkLagGroups, "b").set(3)
        metrics.registry.meter(.sinkLag, "a").set(1.25)
        let (records, _) = try await self.run(metrics, [{}, {}])
        #expect(records.count == 3)
        #expect(
            records.allSatisfy {
                $0.metadata == ["lag_groups": .number(3), "lag_seconds": .stringConvertible(1.3)]
            })
    }
}
