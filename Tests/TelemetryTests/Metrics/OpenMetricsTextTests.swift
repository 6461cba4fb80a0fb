// The text of OpenMetrics, to the letter.
internal import CoreMetrics
@testable internal import Telemetry
internal import Testing
internal import W3CTrace

@Suite("OpenMetricsText")
struct OpenMetricsTextTests {
    @Test("a counter's family has no suffix, bounds are floating-point, and the end is told")
    func golden() {
        let families = [
            MetricFamily(
                description: .counter("events_total", "Says \"a\"", labels: "a"),
                samples: [
                    MetricSample(labels: [.init(name: "a", value: "x\"y")], value: .number(12))
                ]),
            MetricFamily(
                description: .histogram("wait_seconds", "Waits", labels: "sink", bounds: [0.5, 1]),
                samples: [
                    MetricSample(
                        labels: [.init(name: "sink", value: "sqlite")],
                        value: .histogram(
                            .init(bounds: [0.5, 1], counts: [2, 0, 3], sum: 9.25)))
                ]),
        ]
        #expect(
            OpenMetricsText.text(families) == #"""
                # HELP events Says \"a\"
                # TYPE events counter
                events_total{a="x\"y"} 12
                # HELP wait_seconds Waits
                # TYPE wait_seconds histogram
                wait_seconds_bucket{sink="sqlite",le="0.5"} 2
                wait_seconds_bucket{sink="sqlite",le="1.0"} 2
                wait_seconds_bucket{sink="sqlite",le="+Inf"} 5
                wait_seconds_count{sink="sqlite"} 5
                wait_seconds_sum{sink="sqlite"} 9.25
                # EOF

                """#)
    }

    @Test("a bucket has its newest exemplar, and a scrape without any has none")
    func exemplars() throws {
        let registry = MetricsRegistry([
            .histogram("wait_seconds", "Waits", bounds: [0.5, 1])
        ])
        let description = MetricDescription.histogram("wait_seconds", "Waits", bounds: [0.5, 1])
        let recorder = registry.exemplars(description)
        func lines() -> [Substring] {
            OpenMetricsText.text(registry.families()).split(separator: "\n")
                .filter { $0.contains("_bucket") }
        }
        #expect(lines().allSatisfy { !$0.contains("#") })
        for (value, span) in [(0.25, 1), (2, 2), (0.5, 3)] as [(Double, UInt64)] {
            let context = TraceContext(
                traceID: .init(high: 1, low: 2), spanID: span, isSampled: true)
            recorder.offer(Exemplar(value: value, of: context, time: 1_800_000_000_250_000))
        }
        let trace = #"{trace_id="00000000000000010000000000000002",span_id="000000000000000"#
        #expect(
            lines() == [
                #"wait_seconds_bucket{le="0.5"} 0 # \#(trace)3"} 0.5 1800000000.25"#,
                #"wait_seconds_bucket{le="1.0"} 0"#,
                #"wait_seconds_bucket{le="+Inf"} 0 # \#(trace)2"} 2 1800000000.25"#,
            ])
    }

    @Test(
        "it is sent to who asks for it",
        arguments: [
            ("", false), ("*/*", false), ("text/plain", false),
            ("application/openmetrics-text", true),
            ("application/openmetrics-text;version=1.0.0,text/plain;q=0.5", true),
            ("text/plain;q=0.5, Application/OpenMetrics-Text; version=1.0.0; q=0.4", true),
            ("application/openmetrics-text;q=0", false),
            ("application/openmetrics-text; q=0.0, text/plain", false),
        ])
    func accept(_ header: String, isAccepted: Bool) {
        #expect(OpenMetricsText.isAccepted(by: header) == isAccepted)
    }
}
