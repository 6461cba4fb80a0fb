internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules

extension AdmittedRequest {
    /// The results for the client, in the order of the events.
    ///
    /// - Parameter includesAccepted: whether accepted events get results too.
    func results(includesAccepted: Bool) -> [Sightline_V1_EventResult] {
        if let violation = self.violation {
            return [
                .with { result in
                    result.sequence = self.sequence
                    result.verdict = .rejected
                    result.violations = [Sightline_V1_FieldViolation(violation)]
                }
            ]
        }
        var results = self.refusals.map { self.result(of: $0) }
        for accepted in self.acceptedEvents
        where includesAccepted || self.verdict(of: accepted) != .accepted {
            results.append(self.result(of: accepted))
        }
        // Both lists are sorted already; sorting merges them in place.
        results.sort { $0.index < $1.index }
        return results
    }

    private func result(of refusal: Refusal) -> Sightline_V1_EventResult {
        .with { result in
            result.sequence = self.sequence
            result.index = refusal.index
            result.eventID = refusal.eventID
            result.verdict = Sightline_V1_Verdict(self.verdict(of: refusal))
            guard !self.isToRetry else { return }
            result.violations = refusal.judgement.violations.map(Sightline_V1_FieldViolation.init)
        }
    }

    private func result(of accepted: AcceptedEvent) -> Sightline_V1_EventResult {
        .with { result in
            let verdict = self.verdict(of: accepted)
            result.sequence = self.sequence
            result.index = accepted.index
            result.eventID = self.eventID(of: accepted)
            result.verdict = Sightline_V1_Verdict(verdict)
            guard verdict == .accepted else { return }
            result.hits = accepted.granted.kinds.map(Sightline_V1_HitKind.init)
            result.warnings = accepted.warnings.protos
        }
    }
}

extension Sightline_V1_Verdict {
    init(_ verdict: Verdict) { self = Self(rawValue: Int(verdict.rawValue)) ?? .unspecified }
}

extension Sightline_V1_HitKind {
    init(_ kind: HitKind) { self = Self(rawValue: Int(kind.rawValue)) ?? .unspecified }
}

extension Warnings {
    var protos: [Sightline_V1_Warning] {
        self.numbers.compactMap { Sightline_V1_Warning(rawValue: Int($0)) }
    }
}

extension Sightline_V1_FieldViolation {
    init(_ violation: Violation) {
        self = .with { proto in
            proto.field = violation.field
            proto.code = .init(rawValue: Int(violation.code.rawValue)) ?? .unspecified
            proto.description_p = violation.description
        }
    }
}

extension Sightline_V1_Tally {
    init(_ tally: Tally) {
        self = .with { proto in
            proto.accepted = UInt64(tally.accepted)
            proto.suppressed = UInt64(tally.suppressed)
            proto.duplicate = UInt64(tally.duplicate)
            proto.rejected = UInt64(tally.rejected)
            proto.retryLater = UInt64(tally.retryLater)
        }
    }
}
