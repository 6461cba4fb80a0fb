internal import TrackingRules

extension AdmittedRequest {
    /// The bytes that a refused event takes until its client has the result: texts and ids. The
    /// event itself may be as small as two bytes.
    static let refusalBytes = 512

    /// The bytes to count for a request of `requestBytes` until it is answered.
    func heldBytes(requestBytes: Int) -> Int {
        requestBytes &+ self.refusals.count &* Self.refusalBytes &+ self.keptEvents.count
    }
}
