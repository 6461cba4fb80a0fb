/// Passes requests on to Campaign's own server.
package protocol UpstreamForwarding: Sendable {
    /// The answer of a server to a request; never throws: without an answer the outcome says why.
    ///
    /// - Parameter server: its URL, without a path.
    func answer(
        _ request: DoorRequest, by server: String
    ) async -> (response: DoorResponse?, outcome: UpstreamOutcome)
}
