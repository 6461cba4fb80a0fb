internal import GRPCCore
package import X509

/// What a call of a door tells its interceptors of its connection, as the gRPC transport does.
package struct DoorContext: ServerContext.TransportSpecific {
    /// The peer's verified certificate; nil without mutual TLS.
    package let peerCertificate: Certificate?

    /// Creates a context.
    package init(peerCertificate: Certificate?) { self.peerCertificate = peerCertificate }
}
