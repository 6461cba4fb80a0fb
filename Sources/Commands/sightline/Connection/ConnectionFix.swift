internal import SightlineClient
internal import WireFormat

/// What to change in a command's options for TLS, where a connection failed because of them.
struct ConnectionFix: CustomStringConvertible {
    /// A sentence without its stop.
    let description: String

    /// Nil if the options are not the reason.
    init?(_ failure: StreamFailure) {
        if failure.isClosedInPlaintext {
            self.description = "If this port speaks TLS: --tls-roots FILE, or --tls"
            return
        }
        switch failure.fault {
        case .plaintextPeer: self.description = "Leave out --tls and --tls-roots"
        case .untrustedCertificate:
            self.description =
                "Name the file of the authority that signed it: --tls-roots FILE; --tls trusts the "
                + "system's authorities alone"
        case .wrongName:
            self.description = "Connect by a name that is in the certificate: --target HOST:PORT"
        case .certificateRequired:
            self.description = "Show one: --client-certificate FILE --client-key FILE"
        case .certificateRefused:
            self.description =
                "Show one that is valid now and signed by an authority of the server's "
                + "tls.client_roots: --client-certificate FILE --client-key FILE"
        case .closedInHandshake, .unusableCertificate, .unusableKey, .other, nil: return nil
        }
    }
}
