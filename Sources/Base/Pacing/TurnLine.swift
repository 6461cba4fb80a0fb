/// The line that somebody waits in: that of a stream, among those of its tenant. Whoever gives
/// turns gives them by tenant, and then by stream.
package struct TurnLine: Hashable, Sendable {
    /// The tenant's name.
    package let tenant: [UInt8]
    /// What stands for the stream, or for the connection of calls that have no stream.
    package let stream: ObjectIdentifier

    /// Creates the line of a stream.
    package init(tenant: [UInt8], stream: ObjectIdentifier) {
        self.tenant = tenant
        self.stream = stream
    }
}
