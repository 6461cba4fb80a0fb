// Rates, latencies and bounds of the history: time is what the tests say it is.
internal import AdminProtocol
@testable internal import AdminServer
internal import Telemetry
internal import Testing
@testable internal import TrackingServer

struct StatisticsHistoryTests {
    private func reading(accepted: Int, acks: [Int] = [0, 0, 0]) -> StatisticsReading {
        var reading = StatisticsReading()
        reading.events.accepted = accepted
        reading.acks = MetricSample.Distribution(bounds: [0.001, 0.01], counts: acks, sum: 0)
        return reading
    }

    @Test("a first reading makes no row, and each further one tells of the time since the last")
    func rates() {
        var history = StatisticsHistory(capacity: 10)
        history.append(self.reading(accepted: 1000), time: 100, elapsed: 0)
        #expect(history.columns.time == [])
        history.append(self.reading(accepted: 1500), time: 102, elapsed: 2)
        history.append(self.reading(accepted: 1500), time: 103, elapsed: 1)
        #expect(history.columns.time == [102, 103])
        #expect(history.columns.accepted == [250, 0])
        #expect(history.columns.windowSeconds == 10)
    }

    @Test("each sink has its columns, and one that comes later has zeros before")
    func sinks() {
        var history = StatisticsHistory(capacity: 10)
        var reading = StatisticsReading()
        reading.sinks = [Statistics.Sink(name: "a")]
        history.append(reading, time: 1, elapsed: 0)
        reading.sinks[0].deliveredHits = 100
        reading.sinks[0].lagSeconds = 2.5
        history.append(reading, time: 2, elapsed: 2)
        reading.sinks[0].deliveredHits = 100
        reading.sinks.append(Statistics.Sink(name: "b"))
        reading.sinks[1].lagBytes = 7
        history.append(reading, time: 3, elapsed: 1)
        let columns = history.columns.sinks
        #expect(columns.map(\.name) == ["a", "b"])
        #expect(columns[0].hits == [50, 0] && columns[0].lagSeconds == [2.5, 2.5])
        #expect(columns[1].hits == [0, 0] && columns[1].lagBytes == [0, 7])
    }

    @Test("a counter that went back is no negative rate")
    func reset() {
        var history = StatisticsHistory(capacity: 10)
        history.append(self.reading(accepted: 1000), time: 1, elapsed: 0)
        history.append(self.reading(accepted: 10), time: 2, elapsed: 1)
        #expect(history.columns.accepted == [0])
    }

    @Test("it holds as many rows as it may, and of one more the oldest is gone")
    func limit() {
        var history = StatisticsHistory(capacity: 3)
        for second in 0...3 {
            history.append(self.reading(accepted: 0), time: Double(second), elapsed: 1)
        }
        #expect(history.columns.time == [1, 2, 3])
        history.append(self.reading(accepted: 0), time: 4, elapsed: 1)
        #expect(history.columns.time == [2, 3, 4])
    }

    @Test("latencies are those of the row alone, and none where nothing was acked")
    func latencies() {
        var history = StatisticsHistory(capacity: 3)
        history.append(self.reading(accepted: 0, acks: [1000, 0, 0]), time: 1, elapsed: 0)
        history.append(self.reading(accepted: 0, acks: [1000, 0, 0]), time: 2, elapsed: 1)
        history.append(self.reading(accepted: 0, acks: [1000, 100, 0]), time: 3, elapsed: 1)
        let medians = history.columns.ackP50Seconds
        #expect(medians.count == 2 && medians[0] == nil)
        #expect(abs((medians[1] ?? 0) - 0.0055) < 1e-9)
    }

    @Test(
        "a quantile lies within its bucket, and never above the last bound",
        arguments: [
            ([100, 0, 0], 0.5, 0.0005), ([0, 100, 0], 0.5, 0.0055), ([50, 50, 0], 1.0, 0.01),
            ([0, 0, 5], 0.5, 0.01), ([99, 0, 1], 0.99, 0.001), ([98, 0, 2], 0.99, 0.01),
        ])
    func quantile(_ counts: [Int], _ share: Double, _ expected: Double) throws {
        let distribution = MetricSample.Distribution(
            bounds: [0.001, 0.01], counts: counts, sum: 0)
        let quantile = try #require(
            DurationQuantiles(distribution, since: nil).quantile(share))
        #expect(abs(quantile - expected) < 1e-9)
    }
}
