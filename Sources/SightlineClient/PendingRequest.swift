internal import SightlineProtos
internal import SwiftProtobuf

/// An unacknowledged request with the results received for it.
struct PendingRequest: Sendable {
    let sequence: UInt64
    let events: [OutgoingEvent]
    private var results: [UInt32: Sightline_V1_EventResult] = [:]
    private var wholeResult: Sightline_V1_EventResult?

    init(sequence: UInt64, events: [OutgoingEvent]) {
        self.sequence = sequence
        self.events = events
    }

    /// Stores a result until the request is settled.
    mutating func keep(_ result: Sightline_V1_EventResult) {
        if result.hasIndex {
            self.results[result.index] = result
        } else {
            self.wholeResult = result
        }
    }

    /// Discards the results, because a resent request is judged again.
    mutating func forgetResults() {
        self.results = [:]
        self.wholeResult = nil
    }

    /// The final outcomes and the events to send again, both in order.
    func settle(
        limits: RequestLimits
    ) -> (outcomes: [EventOutcome], again: [OutgoingEvent], isSplit: Bool) {
        if let whole = self.wholeResult, whole.verdict == .rejected, self.exceeds(limits) {
            // Built before the server's limits were known: its events fit smaller requests.
            return ([], self.events, true)
        }
        var outcomes: [EventOutcome] = []
        var again: [OutgoingEvent] = []
        for (place, event) in self.events.enumerated() {
            let result = self.result(at: UInt32(clamping: place), of: event)
            if result.verdict == .retryLater {
                again.append(event)
            } else {
                outcomes.append(EventOutcome(origin: event.origin, result: result))
            }
        }
        return (outcomes, again, false)
    }

    /// An acknowledged event without a result of its own was accepted.
    private func result(at index: UInt32, of event: OutgoingEvent) -> Sightline_V1_EventResult {
        var result = self.results[index] ?? self.wholeResult ?? Self.accepted
        result.sequence = self.sequence
        result.index = index
        result.eventID = event.event.eventID
        return result
    }

    private static let accepted = Sightline_V1_EventResult.with { $0.verdict = .accepted }

    private func exceeds(_ limits: RequestLimits) -> Bool {
        guard self.events.count > 1 else { return false }
        let byteCount = self.events.reduce(RequestLimits.requestOverheadByteCount) {
            $0 + $1.requestByteCount
        }
        return self.events.count > limits.maxEvents || byteCount > limits.maxRequestBytes
    }
}
