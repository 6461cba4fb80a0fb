// What the rules say of one event, before the window of recent hits is asked.

/// The rules' outcome for one event.
package struct Judgement: Sendable, Equatable {
    /// Accepted, suppressed or rejected; whether an accepted one is a duplicate, the window tells.
    package var verdict: Verdict
    /// The hits of an accepted event.
    package var hits: HitKinds = []
    /// Whether the hits stand for a dismissal, which the window remembers (D18).
    package var isDismissal = false
    /// What looks wrong although it was accepted.
    package var warnings: Warnings = []
    /// Why it was rejected.
    package var violations: [Violation] = []

    static func suppressed(_ verdict: Verdict) -> Judgement { Judgement(verdict: verdict) }

    static func rejected(_ violations: [Violation]) -> Judgement {
        Judgement(verdict: .rejected, violations: violations)
    }
}

/// Takes down the steps that led to a verdict, in words. The rules call it all along; where nobody
/// asked, `NoSteps` makes the calls vanish.
package protocol Steps {
    /// Notes a step; the text is made only if it is kept.
    mutating func note(_ step: @autoclosure () -> String)
}

/// Keeps nothing.
package struct NoSteps: Steps {
    /// A recorder that keeps nothing.
    package init() {}
    /// Does nothing.
    @inline(__always)
    package mutating func note(_ step: @autoclosure () -> String) {}
}

/// Keeps every step, for ExplainEvents.
package struct RecordedSteps: Steps {
    /// The steps in order.
    package private(set) var steps: [String] = []
    /// A recorder without steps.
    package init() {}
    /// Keeps the step.
    package mutating func note(_ step: @autoclosure () -> String) { self.steps.append(step()) }
}
