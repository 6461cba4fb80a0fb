package import W3CTrace
internal import WireFormat

/// A request after the rules: what the journal writes, and what its client's answer is made of.
///
/// It has one owner at a time: the stream creates it, the journal settles it and hands it back.
/// Nothing accesses it in between, so `@unchecked Sendable` is safe. Accesses never overlap either,
/// so Swift's exclusivity checks are off: they take 0.1 µs a request.
package final class AdmittedRequest: @unchecked Sendable {
    /// The sequence number that the client assigned; 0 for unary requests.
    package let sequence: UInt64
    /// When it arrived, in microseconds since 1970.
    package let receiveTime: Int64
    /// When it was settled, in microseconds since 1970; 0 until then.
    @exclusivity(unchecked) package var settleTime: Int64 = 0
    /// The number of events; 0 if the bytes are not a protobuf message.
    package let eventCount: Int
    /// The events that the rules suppressed or rejected, in order.
    package let refusals: [Refusal]
    /// The accepted events of the accepted events, in order.
    @exclusivity(unchecked) package var acceptedEvents: [AcceptedEvent]
    /// The accepted events as entries in the journal's encoding.
    @exclusivity(unchecked) package var entries: [UInt8]
    /// The trace context of its hits: that of the server span. Before the span begins, it is the
    /// first valid context among the events, if any, and becomes the span's parent.
    @exclusivity(unchecked) package var trace: TraceContext?
    /// Why the request was refused as a whole; nil if it was not.
    package let violation: Violation?
    /// The bytes of the refused events that are kept.
    package let keptEvents: [UInt8]
    /// Whether a reader of the tap may want it.
    @exclusivity(unchecked) package var isTapped = false
    /// Its counts for the ledger; empty if it was refused as a whole.
    package let ledger: RequestLedger

    /// An event that the rules suppressed or rejected.
    package struct Refusal: Sendable {
        /// The event's index in the request.
        package let index: UInt32
        /// The event's id; empty if the event could not be parsed.
        package let eventID: String
        /// The rules' verdict, with its violations.
        package let judgement: Judgement
        /// The bytes and names that are kept of the event; nil if it is not kept.
        package let kept: KeptEvent?
    }

    init(
        sequence: UInt64, receiveTime: Int64, eventCount: Int = 0, refusals: [Refusal] = [],
        acceptedEvents: [AcceptedEvent] = [],
        entries: [UInt8] = [], eventTrace: TraceContext? = nil, keptEvents: [UInt8] = [],
        violation: Violation? = nil, ledger: RequestLedger
    ) {
        self.sequence = sequence
        self.receiveTime = receiveTime
        self.eventCount = eventCount
        self.refusals = refusals
        self.acceptedEvents = acceptedEvents
        self.entries = entries
        self.trace = eventTrace
        self.keptEvents = keptEvents
        self.violation = violation
        self.ledger = ledger
    }

    /// Whether the commit failed: nothing was kept, so the client has to send the request again.
    @exclusivity(unchecked) package var isToRetry = false

    /// The verdict for an accepted event; final once the journal has settled the request.
    package func verdict(of accepted: AcceptedEvent) -> Verdict {
        self.isToRetry ? .retryLater : accepted.granted.isEmpty ? .duplicate : .accepted
    }

    /// The verdict on an event that the rules refused; final once the journal has settled the
    /// request. If the commit failed, its ledger count was not stored either, so it is sent again
    /// as well.
    package func verdict(of refusal: Refusal) -> Verdict {
        self.isToRetry ? .retryLater : refusal.judgement.verdict
    }

    /// Counts of events by verdict; final once the journal has settled the request.
    package var tally: Tally {
        var tally = Tally()
        if self.violation != nil { tally.rejected = self.eventCount }
        for refusal in self.refusals { tally.count(self.verdict(of: refusal)) }
        for accepted in self.acceptedEvents { tally.count(self.verdict(of: accepted)) }
        return tally
    }

    /// The id of an accepted event.
    package func eventID(of accepted: AcceptedEvent) -> String {
        self.entries.withUnsafeBytes { entries in
            HitEncoding.eventBytes(at: accepted.entryOffset, in: entries).part(
                accepted.answer.eventID
            ).text
        }
    }
}
