internal import GRPCCore
internal import Glibc
package import NIOCore
package import NIOSSL

/// Takes the connections of one port, within its limits, or refuses them. The gRPC port and the
/// HTTP port each have one.
package struct ConnectionAdmission: Sendable {
    /// The limits on the port's connections.
    package let configuration: ConnectionConfiguration
    private let table: ConnectionTable
    /// Counts the connections that the server ends.
    package let ends: ConnectionEnds
    private let open: OpenConnections

    /// Creates an admission with new counters.
    ///
    /// - Parameters:
    ///   - configuration: the limits on connections.
    ///   - ends: counts the connections that the server ends.
    ///   - open: tracks every connection.
    package init(
        _ configuration: ConnectionConfiguration, ends: ConnectionEnds, open: OpenConnections
    ) {
        self.configuration = configuration
        self.table = ConnectionTable(
            maxCount: configuration.maxCount, maxPerAddress: configuration.maxPerAddress,
            newPerSecond: configuration.newPerSecond)
        self.ends = ends
        self.open = open
    }

    /// Connections that the kernel holds until they are accepted; net.core.somaxconn caps them.
    package static let backlog: CInt = 1024

    /// Admits a connection.
    ///
    /// - Returns: what it has of the bounds that tenants share; nil if it is refused, and closes
    ///   once it is active.
    package func admit(_ connection: any Channel) throws -> ConnectionShares? {
        self.open.add(connection)
        let address = self.countedAddress(of: connection)
        if let refusal = self.table.admit(address) {
            self.ends.count(refusal)
            try connection.pipeline.syncOperations.addHandler(
                RefusingHandler(), position: .first)
            return nil
        }
        connection.closeFuture.whenComplete { _ in self.table.release(address) }
        // Fails if the socket is not TCP or is already closed; neither matters.
        try? connection.syncOptions?.setOption(
            ChannelOptions.Types.SocketOption(
                level: .tcp, name: .init(rawValue: TCP_USER_TIMEOUT)),
            value: Int(TimeAmount(self.configuration.userTimeout).milliseconds))
        return ConnectionShares(peer: address?.bytes ?? [])
    }

    /// Adds TLS to a connection of the HTTP port that has no handlers yet. A peer that does not
    /// begin it is told what the port is.
    package func addTLS(_ tls: NIOSSLServerHandler, to connection: any Channel) throws {
        try connection.pipeline.syncOperations.addHandlers([
            FirstBytesHandler(expected: .https), tls, self.failureHandler,
        ])
    }

    /// Counts a TLS handshake that fails; behind the TLS handler.
    var failureHandler: TLSFailureHandler {
        let ends = self.ends
        return TLSFailureHandler { ends.count(.tls) }
    }

    /// Adds the guard of a connection that speaks HTTP/2, behind its other handlers.
    package func addGuard(to connection: any Channel, _ shares: ConnectionShares) throws {
        try connection.pipeline.syncOperations.addHandler(self.guardian(shares))
    }

    /// The guard of a connection.
    func guardian(_ shares: ConnectionShares) -> ConnectionGuard {
        ConnectionGuard(
            self.configuration, maxAge: self.drawnAge(), shares: shares, onEnd: self.ends.count)
    }

    /// Counts a stream of a connection that has a guard.
    package static func streamOpened(_ stream: any Channel) {
        // No guard if the connection has closed meanwhile: then there is nothing to count.
        let connection = try? stream.parent?.pipeline.syncOperations.handler(
            type: ConnectionGuard.self)
        connection?.streamOpened(stream)
    }

    /// The random variation of the maximum age in percent: connections do not end all at once.
    private static let ageJitterPercent: Int64 = 10

    /// The maximum age of a connection, drawn at random for each.
    package func drawnAge() -> TimeAmount {
        let age = TimeAmount(self.configuration.maxAge).nanoseconds
        let spread = age / 100 * Self.ageJitterPercent
        return .nanoseconds(age + Int64.random(in: -spread...spread))
    }

    /// The address under which a connection is counted; nil if only the total counts it.
    private func countedAddress(of connection: any Channel) -> PeerAddress? {
        guard let address = connection.remoteAddress,
            !self.configuration.trustedProxies.contains(where: { $0.contains(address) })
        else { return nil }
        return PeerAddress(address)
    }
}

extension TimeAmount {
    fileprivate var milliseconds: Int64 { self.nanoseconds / 1_000_000 }
}
