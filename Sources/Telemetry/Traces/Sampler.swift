// Which traces are recorded: OpenTelemetry's samplers.
package import TrackingCore

/// Decides at a span's start whether it is recorded.
package struct Sampler: Sendable, Equatable {
    /// What decides where no parent has: at the root of a trace, or always.
    private let root: Root
    /// Whether a parent's decision is followed.
    private let followsParent: Bool

    private enum Root: Equatable {
        case always
        case never
        /// Where the lower half of the trace id is below it. 2⁶⁴ itself does not fit: that is
        /// `always`.
        case below(UInt64)
    }

    /// OpenTelemetry's names of its samplers.
    package static let names = [
        "always_on", "always_off", "traceidratio", "parentbased_always_on",
        "parentbased_always_off", "parentbased_traceidratio",
    ]

    /// A sampler by its name.
    ///
    /// - Parameters:
    ///   - name: one of `names`; any other samples as `parentbased_always_on`, the default.
    ///   - ratio: the share of traces that the ratio samplers record, from 0 to 1.
    package init(name: String, ratio: Double) {
        self.followsParent = !Self.names.contains(name) || name.hasPrefix("parentbased_")
        self.root =
            switch name {
            case "always_off", "parentbased_always_off": .never
            case "traceidratio", "parentbased_traceidratio": Self.root(ratio: ratio)
            default: .always
            }
    }

    /// Whether a span of this trace is recorded.
    ///
    /// - Parameter parent: the span that it continues, nil where it begins the trace.
    package func samples(_ traceID: TraceContext.TraceID, parent: TraceContext?) -> Bool {
        if self.followsParent, let parent { return parent.isSampled }
        switch self.root {
        case .always: return true
        case .never: return false
        // Every sampler of one trace decides alike, whatever its language: they all take this half.
        case .below(let bound): return traceID.low < bound
        }
    }

    private static func root(ratio: Double) -> Root {
        guard ratio > 0 else { return .never }
        // 2⁶⁴ times a ratio close to 1 is rounded up to 2⁶⁴.
        guard let bound = UInt64(exactly: (ratio * 0x1p64).rounded()) else { return .always }
        return .below(bound)
    }
}
