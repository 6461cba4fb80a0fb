internal import TrackingRules

/// Sums up settled requests before the shared metrics are touched, so that an answer's cost hardly
/// depends on its number of events.
struct RequestCounts {
    /// Requests by the raw value of their outcome.
    private(set) var outcomes = InlineArray<3, Int>(repeating: 0)
    /// Events by the verdict's number, except rejected ones.
    private(set) var verdicts = InlineArray<10, Int>(repeating: 0)
    /// Rejected events by the number of their first violation's code.
    private(set) var violations = InlineArray<7, Int>(repeating: 0)
    /// Hits by the kind's number.
    private(set) var hits = InlineArray<16, Int>(repeating: 0)

    /// Adds a settled request.
    mutating func add(_ request: AdmittedRequest) {
        self.outcomes[RequestOutcome(request).rawValue] &+= 1
        if let violation = request.violation {
            self.violations[Int(violation.code.rawValue)] &+= request.eventCount
        }
        if request.isToRetry {
            self.verdicts[Int(Verdict.retryLater.rawValue)] &+= request.refusals.count
        } else {
            for refusal in request.refusals { self.add(refusal.judgement) }
        }
        for accepted in request.acceptedEvents {
            let verdict = request.verdict(of: accepted)
            self.verdicts[Int(verdict.rawValue)] &+= 1
            guard verdict == .accepted else { continue }
            var kinds = accepted.granted.rawValue
            while kinds != 0 {
                self.hits[kinds.trailingZeroBitCount] &+= 1
                kinds &= kinds &- 1
            }
        }
    }

    private mutating func add(_ judgement: Judgement) {
        if let violation = judgement.violations.first {
            self.violations[Int(violation.code.rawValue)] &+= 1
        } else {
            self.verdicts[Int(judgement.verdict.rawValue)] &+= 1
        }
    }
}

/// The outcome of a request as a whole.
enum RequestOutcome: Int, CaseIterable {
    /// Every event has a verdict.
    case answered
    /// The commit failed, so the client has to send the request again.
    case retryLater
    /// The request was refused as a whole, or its RPC failed.
    case refused

    /// The outcome of a settled request.
    init(_ request: AdmittedRequest) {
        self =
            request.violation != nil ? .refused : request.isToRetry ? .retryLater : .answered
    }

    /// The name in metrics.
    var name: String {
        switch self {
        case .answered: "answered"
        case .retryLater: "retry_later"
        case .refused: "refused"
        }
    }
}

/// The methods that are counted by request.
enum RequestMethod: String, CaseIterable {
    case streamEvents = "StreamEvents"
    case recordEvents = "RecordEvents"
    case explainEvents = "ExplainEvents"
    case inspectPayload = "InspectPayload"
    case explainDelivery = "ExplainDelivery"
    /// An operator's, of events that were refused before.
    case recover = "Recover"
}
