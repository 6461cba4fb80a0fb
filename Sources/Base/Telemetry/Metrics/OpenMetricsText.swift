// OpenMetrics 1.0: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md

/// Encodes metric families in OpenMetrics' text format, with exemplars.
package enum OpenMetricsText {
    /// The format's media type, for the Content-Type header.
    package static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// Whether a client accepts this format, by the Accept header of its request.
    package static func isAccepted(by accept: String) -> Bool {
        accept.split(separator: ",").contains { range in
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
            let isRefused = parts.contains { ["q=0", "q=0.0", "q=0.00", "q=0.000"].contains($0) }
            return parts.first == "application/openmetrics-text" && !isRefused
        }
    }

    /// Encodes the families, each with HELP and TYPE, and the end marker.
    package static func text(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families {
            // A counter's family is named without the suffix of its samples.
            let isCounter = family.kind == .counter && family.name.hasSuffix("_total")
            let name = isCounter ? String(family.name.dropLast("_total".count)) : family.name
            text += "# HELP \(name) \(PrometheusText.escaped(family.help, quotes: true))\n"
            text += "# TYPE \(name) \(family.kind.rawValue)\n"
            for sample in family.samples { Self.write(sample, of: family.name, to: &text) }
        }
        return text + "# EOF\n"
    }

    private static func write(_ sample: MetricSample, of name: String, to text: inout String) {
        switch sample.value {
        case .number(let number):
            text += Self.line(name, sample.labels, PrometheusText.text(number)) + "\n"
        case .histogram(let distribution):
            Self.write(distribution, sample.labels, of: name, to: &text)
        }
    }

    private static func write(
        _ distribution: MetricSample.Distribution, _ labels: [MetricSample.Label],
        of name: String, to text: inout String
    ) {
        var count = 0
        for (index, bound) in (distribution.bounds + [.infinity]).enumerated() {
            // The format's buckets are cumulative, ours are not.
            count &+= distribution.counts[index]
            let bucket = MetricSample.Label(name: "le", value: Self.bound(bound))
            text += Self.line("\(name)_bucket", labels + [bucket], "\(count)")
            if let exemplar = distribution.exemplars.dropFirst(index).first ?? nil {
                text += Self.text(exemplar)
            }
            text += "\n"
        }
        text += Self.line("\(name)_count", labels, "\(count)") + "\n"
        text += Self.line("\(name)_sum", labels, PrometheusText.text(distribution.sum)) + "\n"
    }

    private static func text(_ exemplar: Exemplar) -> String {
        let time = Double(exemplar.time) / 1e6
        return " # {trace_id=\"\(exemplar.traceID)\",span_id=\"\(exemplar.spanID)\"} "
            + "\(PrometheusText.text(exemplar.value)) \(time)"
    }

    private static func line(
        _ name: String, _ labels: [MetricSample.Label], _ value: String
    ) -> String {
        let pairs = labels.map {
            "\($0.name)=\"\(PrometheusText.escaped($0.value, quotes: true))\""
        }
        return name + (pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}") + " \(value)"
    }

    /// Bounds are floating-point numbers: 1.0, not 1.
    private static func bound(_ bound: Double) -> String {
        bound.isInfinite ? "+Inf" : "\(bound)"
    }
}
