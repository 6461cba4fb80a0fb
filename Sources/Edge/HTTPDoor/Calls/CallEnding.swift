package import GRPCCore
package import HTTP2Edge

/// Lets the service word and count the ends of a door's calls, as `CallTermination` does for the
/// gRPC port.
package struct CallEnding: Sendable {
    /// The status and the trailing metadata of a call.
    package typealias End = (status: Status, metadata: Metadata)

    let refused: @Sendable (CallRefusal) -> End
    let complete: @Sendable (End) -> End

    /// Creates the callbacks.
    ///
    /// - Parameters:
    ///   - refused: the end of a call that the door ends.
    ///   - complete: called with the end of every other call; may add to it.
    package init(
        refused: @escaping @Sendable (CallRefusal) -> End,
        complete: @escaping @Sendable (End) -> End
    ) {
        self.refused = refused
        self.complete = complete
    }
}
