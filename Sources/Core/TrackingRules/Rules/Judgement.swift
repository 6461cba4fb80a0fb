/// The rules' verdict on one event, before deduplication.
package struct Judgement: Sendable, Equatable {
    /// Accepted, suppressed or rejected; never duplicate, which only the window decides.
    package var verdict: Verdict
    /// The hits of an accepted event.
    package var hits: HitKinds = []
    /// Whether the hits report a dismissal, which the window stores (D18).
    package var isDismissal = false
    /// Warnings about an accepted event.
    package var warnings: Warnings = []
    /// The violations of a rejected event.
    package var violations: [Violation] = []

    static func suppressed(_ verdict: Verdict) -> Judgement { Judgement(verdict: verdict) }

    static func rejected(_ violations: [Violation]) -> Judgement {
        Judgement(verdict: .rejected, violations: violations)
    }
}

extension Judgement {
    static func accepted(_ hits: HitKinds, isDismissal: Bool = false) -> Judgement {
        Judgement(verdict: .accepted, hits: hits, isDismissal: isDismissal)
    }

    /// The judgement as text for ExplainEvents.
    var outcome: String {
        self.verdict == .accepted
            ? self.hits.kinds.map { "\($0.name)" }.joined(separator: ", then ")
            : "\(self.verdict)"
    }
}

/// Records the steps that led to a verdict, as text for ExplainEvents. With `NoSteps` the calls are
/// compiled away.
package protocol Steps {
    /// Records a step; the text is evaluated only if it is kept.
    mutating func note(_ step: @autoclosure () -> String)
}

/// Records nothing; used everywhere but in ExplainEvents.
package struct NoSteps: Steps {
    /// Creates a recorder.
    package init() {}
    /// Discards the step without evaluating it.
    @inline(__always)
    package mutating func note(_ step: @autoclosure () -> String) {}
}

/// Records every step, for ExplainEvents.
package struct RecordedSteps: Steps {
    /// The steps in order.
    package private(set) var steps: [String] = []
    /// Creates a recorder without steps.
    package init() {}
    /// Appends the step's text.
    package mutating func note(_ step: @autoclosure () -> String) { self.steps.append(step()) }
}
