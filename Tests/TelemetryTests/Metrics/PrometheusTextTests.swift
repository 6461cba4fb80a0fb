// The text that Prometheus reads, to the letter.
@testable internal import Telemetry
internal import Testing

@Suite("PrometheusText")
struct PrometheusTextTests {
    @Test("counters, gauges and histograms have their HELP and TYPE, and escaped labels")
    func golden() {
        let families = [
            MetricFamily(
                description: .counter("events_total", "Says \"a\\b\"\nand c", labels: "a", "b"),
                samples: [
                    MetricSample(
                        labels: [
                            .init(name: "a", value: "say \"x\\y\"\nz"), .init(name: "b", value: ""),
                        ],
                        value: .number(12))
                ]),
            MetricFamily(
                description: .gauge("bytes", "Bytes"),
                samples: [MetricSample(labels: [], value: .number(-0.5))]),
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
            PrometheusText.text(families) == #"""
                # HELP events_total Says "a\\b"\nand c
                # TYPE events_total counter
                events_total{a="say \"x\\y\"\nz",b=""} 12
                # HELP bytes Bytes
                # TYPE bytes gauge
                bytes -0.5
                # HELP wait_seconds Waits
                # TYPE wait_seconds histogram
                wait_seconds_bucket{sink="sqlite",le="0.5"} 2
                wait_seconds_bucket{sink="sqlite",le="1"} 2
                wait_seconds_bucket{sink="sqlite",le="+Inf"} 5
                wait_seconds_sum{sink="sqlite"} 9.25
                wait_seconds_count{sink="sqlite"} 5

                """#)
    }

    @Test(
        "numbers are written as Prometheus reads them",
        arguments: [
            (0, "0"), (-3, "-3"), (0.1, "0.1"), (1e-7, "1e-07"),
            (9_007_199_254_740_992, "9007199254740992"),
            (1e300, "1e+300"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
        ] as [(Double, String)])
    func numbers(_ number: Double, _ text: String) {
        let family = MetricFamily(
            description: .gauge("bytes", "Bytes"),
            samples: [MetricSample(labels: [], value: .number(number))])
        #expect(PrometheusText.text([family]).hasSuffix("gauge\nbytes \(text)\n"))
    }

    @Test("nothing to tell is no text")
    func empty() {
        #expect(PrometheusText.text([]) == "")
    }
}
