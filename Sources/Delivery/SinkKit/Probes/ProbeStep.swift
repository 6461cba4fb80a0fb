/// One step of a sink's probe (`sightline sinks try`): what was tried, and what came of it, in
/// words for an operator.
package struct ProbeStep: Sendable, Equatable {
    /// What came of a step.
    package enum Outcome: String, Sendable, CaseIterable {
        /// It works.
        case worked
        /// It was not tried; the text says why. Not a failure.
        case skipped
        /// It does not work; the step has a fix.
        case failed
    }

    /// What was tried, in a word: `name`, `connection`, `TLS`, `write`, `removal`; of Campaign
    /// `request`, of files `directory`, of a backend of the grpc sink `rhythm`.
    package let name: String
    /// What came of it.
    package let outcome: Outcome
    /// What was seen, as a sentence. It holds no secret.
    package let text: String
    /// What to do about a failure; nil for anything else.
    package let fix: String?

    private init(_ name: String, _ outcome: Outcome, _ text: String, fix: String? = nil) {
        self.name = name
        self.outcome = outcome
        self.text = text
        self.fix = fix
    }

    /// A step that works.
    package static func worked(_ name: String, _ text: String) -> ProbeStep {
        ProbeStep(name, .worked, text)
    }

    /// A step that was not tried.
    package static func skipped(_ name: String, _ text: String) -> ProbeStep {
        ProbeStep(name, .skipped, text)
    }

    /// A step that does not work.
    ///
    /// - Parameter fix: what to do, with the names of the keys.
    package static func failed(_ name: String, _ text: String, fix: String) -> ProbeStep {
        ProbeStep(name, .failed, text, fix: fix)
    }
}

extension ProbeStep {
    /// The step `write`, from the answer to a batch of one test hit.
    ///
    /// - Parameters:
    ///   - place: where the hit is then, as in "the stream SIGHTLINE".
    ///   - fix: what to do if the backend does not have it.
    package static func write(_ answer: SinkAnswer, to place: String, fix: String) -> ProbeStep {
        switch answer {
        case .delivered: .worked("write", "\(place) has the test hit")
        case .rejected(let reasons):
            .failed(
                "write", "the test hit is refused: \(reasons.values.first ?? "without a reason")",
                fix: fix)
        case .unavailable(let reason), .progressed(let reason), .suspended(let reason),
            .unreadable(let reason), .dataLoss(let reason):
            .failed("write", reason, fix: fix)
        }
    }
}
