internal import SightlineProtos

/// Compares what a client did with docs/clients.md. Every rule follows from the order of things, or
/// from times that a client has to wait at least: a slow machine makes no finding.
struct Judge: Sendable {
    let scenario: Scenario
    /// The ids of the events that the client got, in order.
    let ids: [String]
    let transcript: Transcript

    /// What the rules say, in their order.
    var findings: [Finding] {
        Self.rules.compactMap { rule in
            let faults = rule.faults(self)
            guard let first = faults.first else { return nil }
            let more = faults.count > 1 ? " (and \(faults.count - 1) times more)" : ""
            return Finding(section: rule.section, contract: rule.contract, fault: first + more)
        }
    }

    /// A statement of docs/clients.md, and what breaks it.
    private struct Rule {
        let section: String
        let contract: String
        let faults: @Sendable (Judge) -> [String]
    }

    private static let rules = [
        Rule(
            section: "Sequences",
            contract: "they are 1 or more, and each greater than the one before",
            faults: { $0.fallingSequences }),
        Rule(
            section: "Sending again", contract: "an event that is sent again keeps its event_id",
            faults: { $0.foreignEvents }),
        Rule(
            section: "Sending again",
            contract: "what was not acknowledged goes into the next stream, in the same order",
            faults: { $0.wrongOrder }),
        Rule(
            section: "Verdicts", contract: "only RETRY_LATER events are sent again",
            faults: { $0.needlessResends }),
        Rule(
            section: "Verdicts",
            contract: "wait for retry_delay, and send the event again in a new request",
            faults: { $0.earlyRetries }),
        Rule(
            section: "Limits", contract: "the first answer has the server's limits",
            faults: { $0.brokenLimits }),
        Rule(
            section: "Acknowledgements",
            contract: "only an answer settles a request, and results are by sequence and index",
            faults: { $0.wrongVerdicts }),
        Rule(
            section: "Acknowledgements",
            contract: "every event has a verdict, or is kept and told of as unacknowledged",
            faults: { $0.lostEvents }),
        Rule(
            section: "The states of a stream",
            contract: "a client half-closes, within the grace of closing, and reads until OK",
            faults: { $0.wrongEnds }),
        Rule(
            section: "Errors",
            contract: "connect again after RetryInfo's delay, or a wait that grows",
            faults: { $0.hammering }),
        Rule(
            section: "Errors",
            contract: "a client ends once all is settled, or is refused for good, and says which",
            faults: { $0.wrongExit }),
        Rule(
            section: "Credentials", contract: "a key is sent as authorization: Bearer KEY",
            faults: { $0.missingKeys }),
    ]

    /// The sections of docs/clients.md that findings name.
    static var sections: Set<String> { Set(Self.rules.map(\.section)) }

    // MARK: What the rules read

    func requests(of stream: Int) -> [ReceivedRequest] {
        self.transcript.entries.compactMap { entry in
            guard case .received(stream, let request) = entry.event else { return nil }
            return request
        }
    }

    /// The numbers of the streams, in order.
    var streams: [Int] {
        self.transcript.entries.compactMap { entry in
            guard case .opened(let stream, _) = entry.event else { return nil }
            return stream
        }
    }

    /// A stream as people count.
    func name(_ stream: Int) -> String { "stream \(stream + 1)" }

    func milliseconds(_ duration: Duration) -> String {
        "\(Int(duration / .milliseconds(1))) ms"
    }

    /// A number of events with the first of them.
    func words(_ ids: [String]) -> String {
        let count = ids.count == 1 ? "1 event" : "\(ids.count) events"
        return ids.first.map { "\(count) (first: \($0))" } ?? count
    }
}

extension Sightline_V1_Verdict {
    /// The name in verdict.proto, without its prefix.
    var word: String {
        switch self {
        case .unspecified: "UNSPECIFIED"
        case .accepted: "ACCEPTED"
        case .suppressedFlagOff: "SUPPRESSED_FLAG_OFF"
        case .suppressedFlagUnknown: "SUPPRESSED_FLAG_UNKNOWN"
        case .suppressedConsent: "SUPPRESSED_CONSENT"
        case .suppressedTestMessage: "SUPPRESSED_TEST_MESSAGE"
        case .suppressedDisplay: "SUPPRESSED_DISPLAY"
        case .duplicate: "DUPLICATE"
        case .rejected: "REJECTED"
        case .retryLater: "RETRY_LATER"
        case .UNRECOGNIZED(let number): "\(number)"
        }
    }
}
