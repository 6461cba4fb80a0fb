// The events of settled requests, added up before anything is shared: what an answer costs in
// metrics hardly grows with its events.
internal import TrackingCore

/// Counts of settled requests.
struct RequestCounts {
    /// By the outcome's number.
    private(set) var outcomes = InlineArray<3, Int>(repeating: 0)
    /// By the verdict's number; rejected events are counted by their violation alone.
    private(set) var verdicts = InlineArray<10, Int>(repeating: 0)
    /// Rejected events by the number of their first violation's code.
    private(set) var violations = InlineArray<7, Int>(repeating: 0)
    /// By the kind's number.
    private(set) var hits = InlineArray<16, Int>(repeating: 0)

    /// Adds a request that the journal has settled.
    mutating func add(_ request: AdmittedRequest) {
        self.outcomes[RequestOutcome(request).rawValue] &+= 1
        if let violation = request.violation {
            self.violations[Int(violation.code.rawValue)] &+= request.eventCount
        }
        for refusal in request.refusals { self.add(refusal.judgement) }
        for claim in request.claims {
            let verdict = request.verdict(of: claim)
            self.verdicts[Int(verdict.rawValue)] &+= 1
            guard verdict == .accepted else { continue }
            var kinds = claim.granted.rawValue
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

/// What became of a request as a whole.
enum RequestOutcome: Int, CaseIterable {
    /// Each event has its verdict.
    case answered
    /// Nothing of it was kept: it is to be sent again.
    case retryLater
    /// Nothing in it was looked at, or its RPC ended with an error.
    case refused

    /// The outcome of a request that the journal has settled.
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

/// The methods whose requests are counted.
enum RequestMethod: String, CaseIterable {
    case streamEvents = "StreamEvents"
    case recordEvents = "RecordEvents"
    case explainEvents = "ExplainEvents"
    case inspectPayload = "InspectPayload"
}
