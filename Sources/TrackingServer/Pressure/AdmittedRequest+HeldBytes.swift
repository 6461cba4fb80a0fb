// What a request takes of the memory until it is answered.
internal import TrackingCore

extension AdmittedRequest {
    /// Bytes that one refusal takes until its client has been told: words, ids, and the result. A
    /// refused event may itself have two bytes.
    static let refusalBytes = 512

    /// Bytes to count for a request of this size while it is under way.
    func heldBytes(requestBytes: Int) -> Int {
        requestBytes &+ self.refusals.count &* Self.refusalBytes
    }
}
