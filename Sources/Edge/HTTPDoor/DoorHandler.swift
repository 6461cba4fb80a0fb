/// One of the doors behind the listener: events for people, Connect and gRPC-Web, postbacks.
package protocol DoorHandler: Sendable {
    /// Whether a request is this door's; the first handler that says so answers it.
    func takes(_ request: DoorRequest) -> Bool
    /// The answer. Never throws: an error is an answer as well.
    func answer(_ request: DoorRequest) async -> DoorResponse
}
