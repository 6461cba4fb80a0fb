// A request after the rules: what goes to the journal, and what its client will be told.

/// An admitted request. One owner at a time: the stream makes it, the journal settles it, and hands
/// it back to the stream; nothing touches it in between, which is what `@unchecked Sendable` rests
/// on.
package final class AdmittedRequest: @unchecked Sendable {
    /// The client's number; 0 for unary requests.
    package let sequence: UInt64
    /// When it arrived, in microseconds since 1970.
    package let receiveTime: Int64
    /// When it was settled, in microseconds since 1970; 0 until then.
    package var settleTime: Int64 = 0
    /// Events in it; none where it is no protobuf message, for then they cannot be told apart.
    package let eventCount: Int
    /// The events that the rules did not accept, in order.
    package let refusals: [Refusal]
    /// The accepted events, in order.
    package var claims: [Claim]
    /// Their entries in the journal's form.
    package var entries: [UInt8]
    /// The header of their block; empty until the request's span is known.
    package var header: [UInt8] = []
    /// The first valid trace context of its events.
    package let eventTrace: TraceContext?
    /// The request's violation where it was refused as a whole.
    package let violation: Violation?

    /// An event that gives no hit.
    package struct Refusal: Sendable {
        /// Its place in the request.
        package let index: UInt32
        /// Its event_id; what a broken event's was cannot be told.
        package let eventID: String
        /// Why.
        package let judgement: Judgement
    }

    init(
        sequence: UInt64, receiveTime: Int64, eventCount: Int = 0, refusals: [Refusal] = [],
        claims: [Claim] = [],
        entries: [UInt8] = [], eventTrace: TraceContext? = nil, violation: Violation? = nil
    ) {
        self.sequence = sequence
        self.receiveTime = receiveTime
        self.eventCount = eventCount
        self.refusals = refusals
        self.claims = claims
        self.entries = entries
        self.eventTrace = eventTrace
        self.violation = violation
    }

    /// Bytes that the journal will keep of it.
    package var journalBytes: Int { self.header.count + self.entries.count }

    /// Whether its claims have to be made again later: nothing of them was kept.
    package var isToRetry = false

    /// What became of a claim's event; final once the journal has settled it.
    package func verdict(of claim: Claim) -> Verdict {
        self.isToRetry ? .retryLater : claim.granted.isEmpty ? .duplicate : .accepted
    }

    /// Counts by verdict; final once the journal has settled it.
    package var tally: Tally {
        var tally = Tally()
        if self.violation != nil { tally.rejected = self.eventCount }
        for refusal in self.refusals { tally.count(refusal.judgement.verdict) }
        for claim in self.claims { tally.count(self.verdict(of: claim)) }
        return tally
    }

    /// The event_id of a claim's event, read from its entry.
    package func eventID(of claim: Claim) -> String {
        self.entries.withUnsafeBytes { entries in
            // The event was read when it was admitted, so this does not fail.
            let event = try? EventView(HitBlock.event(at: claim.entryOffset, in: entries))
            return event?.eventID.text ?? ""
        }
    }

    /// Writes what a claim was granted into its entry.
    package func seal(_ claim: Claim) {
        self.entries.withUnsafeMutableBytes { entries in
            entries.storeBytes(
                of: claim.granted.rawValue.littleEndian,
                toByteOffset: claim.entryOffset + HitBlock.kindsOffset, as: UInt16.self)
            entries.storeBytes(
                of: claim.warnings.rawValue.littleEndian,
                toByteOffset: claim.entryOffset + HitBlock.warningsOffset, as: UInt16.self)
        }
    }
}
