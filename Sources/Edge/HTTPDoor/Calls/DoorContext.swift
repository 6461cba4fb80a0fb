package import Credentials
internal import GRPCCore
package import X509

/// What a call of a door tells its interceptors of its connection, as the gRPC transport does.
package struct DoorContext: ServerContext.TransportSpecific {
    /// The peer's verified certificate; nil without mutual TLS.
    package let peerCertificate: Certificate?
    /// Who the call acts for, if the door itself knows it, as by `postback.hosts`; nil if its
    /// credentials say it. Nothing that came over the network may set it.
    package let principal: Principal?

    /// Creates a context.
    package init(peerCertificate: Certificate?, principal: Principal? = nil) {
        self.peerCertificate = peerCertificate
        self.principal = principal
    }
}
