// Prometheus's text format, version 0.0.4:
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format

/// Encodes metric families in Prometheus's text format.
package enum PrometheusText {
    /// The format's media type, for the Content-Type header.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Encodes the families, each with HELP and TYPE.
    package static func text(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(Self.escaped(family.help, quotes: false))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples { Self.write(sample, of: family.name, to: &text) }
        }
        return text
    }

    private static func write(_ sample: MetricSample, of name: String, to text: inout String) {
        switch sample.value {
        case .number(let number):
            Self.write(name, sample.labels, Self.text(number), to: &text)
        case .histogram(let distribution):
            var count = 0
            // The format's buckets are cumulative, ours are not.
            for (bound, counted) in zip(distribution.bounds + [.infinity], distribution.counts) {
                count &+= counted
                let bucket = MetricSample.Label(name: "le", value: Self.text(bound))
                Self.write("\(name)_bucket", sample.labels + [bucket], "\(count)", to: &text)
            }
            Self.write("\(name)_sum", sample.labels, Self.text(distribution.sum), to: &text)
            Self.write("\(name)_count", sample.labels, "\(count)", to: &text)
        }
    }

    private static func write(
        _ name: String, _ labels: [MetricSample.Label], _ value: String, to text: inout String
    ) {
        text += name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
            text += "{\(pairs.joined(separator: ","))}"
        }
        text += " \(value)\n"
    }

    /// Formats a number, without a fraction if it is an integer.
    static func text(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: number) { return "\(whole)" }
        return "\(number)"
    }

    /// Escapes text; quotes are escaped in label values only, not in help texts.
    static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += #"\\"#
            case "\n": escaped += #"\n"#
            case "\"" where quotes: escaped += #"\""#
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
