package import Pacing

/// What a connection has of the bounds that all tenants share on the way in.
package final class ConnectionShares: Sendable {
    /// Of `limits.bytes_waiting`.
    package let waitingBytes = SharedBound.Connection()
    /// Of the same bound, of calls whose tenant is not known yet, or not at all.
    package let strangerBytes = SharedBound.Connection()
    /// Of `limits.bytes_in_flight`.
    package let bytesInFlight = SharedBound.Connection()
    /// Of `limits.waiting_calls`.
    package let waitingCalls = SharedBound.Connection()
    /// The name under which strangers share: no tenant's name has a byte 0.
    let strangerName: [UInt8]

    /// Creates the shares of a connection that has nothing.
    ///
    /// - Parameter peer: the key of its peer's address; empty for peers that are not told apart.
    package init(peer: [UInt8] = []) { self.strangerName = [0] + peer }
}
