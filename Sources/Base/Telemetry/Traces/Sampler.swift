package import W3CTrace

/// OpenTelemetry's samplers, which decide at a span's start whether to record it.
package struct Sampler: Sendable, Equatable {
    /// Decides without a parent, or always if `followsParent` is false.
    private let root: Root
    /// Whether to follow the parent's decision.
    private let followsParent: Bool

    private enum Root: Equatable {
        case always
        case never
        /// If the trace id's lower half is below the bound. `always` covers 2⁶⁴, which does not
        /// fit.
        case below(UInt64)
    }

    /// The names of the samplers, as OpenTelemetry defines them.
    package static let names = [
        "always_on", "always_off", "traceidratio", "parentbased_always_on",
        "parentbased_always_off", "parentbased_traceidratio",
    ]

    /// Creates a sampler by name.
    ///
    /// - Parameters:
    ///   - name: one of `names`; any other means the default, `parentbased_always_on`.
    ///   - ratio: the share of traces to record, 0 to 1; ratio samplers use it.
    package init(name: String, ratio: Double) {
        self.followsParent = !Self.names.contains(name) || name.hasPrefix("parentbased_")
        self.root =
            switch name {
            case "always_off", "parentbased_always_off": .never
            case "traceidratio", "parentbased_traceidratio": Self.root(ratio: ratio)
            default: .always
            }
    }

    /// Whether to record a span of this trace.
    ///
    /// - Parameter parent: the parent span; nil at the root of a trace.
    package func samples(_ traceID: TraceContext.TraceID, parent: TraceContext?) -> Bool {
        if self.followsParent, let parent { return parent.isSampled }
        switch self.root {
        case .always: return true
        case .never: return false
        // All OpenTelemetry samplers use this half, so they agree on each trace.
        case .below(let bound): return traceID.low < bound
        }
    }

    private static func root(ratio: Double) -> Root {
        guard ratio > 0 else { return .never }
        // A ratio close to 1 rounds up to 2⁶⁴, which does not fit.
        guard let bound = UInt64(exactly: (ratio * 0x1p64).rounded()) else { return .always }
        return .below(bound)
    }
}
