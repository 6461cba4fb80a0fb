// The registry: what was declared counts, what was not harms nobody.
internal import CoreMetrics
@testable internal import Telemetry
internal import Testing

@Suite("MetricsRegistry")
struct MetricsRegistryTests {
    private let registry = MetricsRegistry([
        .counter("events_total", "Events", labels: "verdict"),
        .gauge("bytes", "Bytes"),
        .histogram("wait_seconds", "Waits", bounds: [0.001, 0.01, 1]),
        .counter("cpu_seconds_total", "Kept elsewhere"),
    ])

    private func values(_ name: String) -> [MetricSample.Value] {
        self.registry.families().first { $0.name == name }?.samples.map(\.value) ?? []
    }

    @Test("eight tasks that count at once lose nothing")
    func concurrency() async {
        let registry = self.registry
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let counter = Counter(
                        label: "events_total", dimensions: [("verdict", "accepted")],
                        factory: registry)
                    let meter = Meter(label: "bytes", factory: registry)
                    let timer = Timer(label: "wait_seconds", dimensions: [], factory: registry)
                    for _ in 0..<1_000 {
                        counter.increment(by: 3)
                        meter.increment(by: 2)
                        timer.recordNanoseconds(5_000_000)
                    }
                }
            }
        }
        #expect(self.values("events_total") == [.number(24_000)])
        #expect(self.values("bytes") == [.number(16_000)])
        guard case .histogram(let waits) = self.values("wait_seconds").first else {
            Issue.record("no histogram")
            return
        }
        #expect(waits.counts == [0, 8_000, 0, 0])
        #expect(abs(waits.sum - 40) < 1e-6)
    }

    @Test(
        "a value counts in the first bound that is not below it",
        arguments: [
            (1_000_000, [1, 0, 0, 0]), (1_000_001, [0, 1, 0, 0]), (10_000_000, [0, 1, 0, 0]),
            (1_000_000_000, [0, 0, 1, 0]), (1_000_000_001, [0, 0, 0, 1]), (-1, [1, 0, 0, 0]),
            (Int64.max, [0, 0, 0, 1]),
        ] as [(Int64, [Int])])
    func bounds(_ nanoseconds: Int64, _ counts: [Int]) {
        Timer(label: "wait_seconds", dimensions: [], factory: self.registry)
            .recordNanoseconds(nanoseconds)
        guard case .histogram(let waits) = self.values("wait_seconds").first else {
            Issue.record("no histogram")
            return
        }
        #expect(waits.counts == counts)
    }

    @Test("a family takes 256 series, and drops the next")
    func seriesLimit() {
        for index in 0...MetricsRegistry.maxSeriesPerFamily {
            Counter(
                label: "events_total", dimensions: [("verdict", "\(index)")],
                factory: self.registry
            ).increment()
        }
        #expect(self.values("events_total").count == 256)
        #expect(self.registry.droppedSeries == 1)
        // Those that are there are found again.
        Counter(
            label: "events_total", dimensions: [("verdict", "0")], factory: self.registry
        ).increment()
        #expect(self.values("events_total").first == .number(2))
        #expect(self.registry.droppedSeries == 1)
    }

    @Test(
        "what is not as declared is dropped, and counting there harms nobody",
        arguments: [
            ("unknown_total", []), ("events_total", []), ("events_total", [("reason", "x")]),
            ("events_total", [("verdict", "x"), ("reason", "y")]), ("bytes", []),
            ("wait_seconds", []),
        ] as [(String, [(String, String)])])
    func undeclared(_ name: String, _ labels: [(String, String)]) {
        Counter(label: name, dimensions: labels, factory: self.registry).increment()
        #expect(self.registry.families() == [])
        #expect(self.registry.droppedSeries == 1)
    }

    @Test("a figure that is kept elsewhere is set as it is collected")
    func collecting() {
        let meter = Meter(label: "cpu_seconds_total", factory: self.registry)
        self.registry.onCollect { meter.increment(by: 1.5) }
        #expect(self.values("cpu_seconds_total") == [.number(1.5)])
        #expect(self.values("cpu_seconds_total") == [.number(3)])
        #expect(self.registry.families().first?.kind == .counter)
    }

    @Test("one name has one series, however it is asked for: the second way is dropped")
    func otherKindOfSeries() {
        Meter(label: "cpu_seconds_total", factory: self.registry).set(7)
        Counter(label: "cpu_seconds_total", factory: self.registry).increment()
        #expect(self.values("cpu_seconds_total") == [.number(7)])
        #expect(self.registry.droppedSeries == 1)
    }

    @Test("a destroyed series is shown no longer")
    func destroyed() {
        let meter = Meter(label: "bytes", factory: self.registry)
        meter.set(3)
        #expect(self.registry.families().map(\.name) == ["bytes"])
        meter.destroy()
        #expect(self.registry.families() == [])
    }

    @Test("families come as they were declared, and samples by their labels")
    func order() {
        Meter(label: "bytes", factory: self.registry).set(1)
        for verdict in ["suppressed", "accepted"] {
            Counter(
                label: "events_total", dimensions: [("verdict", verdict)], factory: self.registry
            ).increment()
        }
        let families = self.registry.families()
        #expect(families.map(\.name) == ["events_total", "bytes"])
        #expect(families[0].samples.map { $0.labels[0].value } == ["accepted", "suppressed"])
    }
}
