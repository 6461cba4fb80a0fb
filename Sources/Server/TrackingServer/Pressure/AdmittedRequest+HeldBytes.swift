internal import TrackingRules

extension AdmittedRequest {
    /// The bytes that a refused event takes until its client has the result, without its
    /// violations: its row, its id and what the ledger counts. It may be as small as two bytes.
    static let refusalBytes = 384
    /// The bytes of a violation: its row in an array that has grown, and its text.
    static let violationBytes = 256

    /// The bytes to count for a request of `requestBytes` until it is answered: those, and what was
    /// made of them. Room for all events is reserved, also for those that are refused.
    func heldBytes(requestBytes: Int) -> Int {
        let accepted =
            self.entries.capacity
            &+ self.acceptedEvents.capacity &* MemoryLayout<AcceptedEvent>.stride
        return self.refusals.reduce(requestBytes &+ self.keptEvents.count &+ accepted) {
            $0 &+ Self.refusalBytes &+ $1.judgement.violations.count &* Self.violationBytes
        }
    }
}
