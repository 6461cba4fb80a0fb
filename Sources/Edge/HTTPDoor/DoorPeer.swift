package import GRPCCore
package import HTTP2Edge
package import X509

/// The other end of an HTTP connection.
package struct DoorPeer: Sendable {
    /// Its address, such as `ipv4:192.0.2.1:4711`.
    package var address: String
    /// Its verified certificate; nil without mutual TLS.
    package var certificate: Certificate?
    /// What its connection has of the bounds that all tenants share.
    package var shares: ConnectionShares
    /// Metadata by which the service finds the request's bytes that wait.
    package var callMetadata: Metadata

    /// Creates a peer.
    package init(
        address: String = "", certificate: Certificate? = nil,
        shares: ConnectionShares = ConnectionShares(), callMetadata: Metadata = [:]
    ) {
        self.address = address
        self.certificate = certificate
        self.shares = shares
        self.callMetadata = callMetadata
    }
}
