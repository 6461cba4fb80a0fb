/// One of the doors behind the listener: events for people, Connect and gRPC-Web, postbacks.
package protocol DoorHandler: Sendable {
    /// Whether a request is this door's; the first handler that says so answers it.
    func takes(_ request: DoorRequest) -> Bool
    /// The answer. Never throws: an error is an answer as well.
    func answer(_ request: DoorRequest) async -> DoorResponse
    /// Lets a web page read an answer of the listener, if it may read the door's own: a page that
    /// cannot read a refusal would send the same again.
    func allow(_ response: inout DoorResponse, for request: DoorRequest)
}

extension DoorHandler {
    /// A door that no page calls lets none read.
    package func allow(_ response: inout DoorResponse, for request: DoorRequest) {}
}
