// How the client's connections are secured.
internal import GRPCNIOTransportHTTP2Posix

/// TLS or none, with the files that it takes. The server's certificate is always verified, with its
/// name or address.
package struct ClientSecurity: Sendable, Equatable {
    /// Whether connections are encrypted. Default false.
    package var isEncrypted = false
    /// Path of the PEM file of authorities that a server's certificate has to lead to; nil for
    /// those of the system.
    package var rootsPath: String?
    /// Path of the PEM file with the client's own certificate, for servers that ask for one.
    package var certificatePath: String?
    /// Path of the PEM file with its key.
    package var keyPath: String?

    /// No TLS.
    package init() {}

    /// What the transport takes.
    var transportSecurity: HTTP2ClientTransport.Posix.TransportSecurity {
        guard self.isEncrypted else { return .plaintext }
        return .tls { config in
            if let rootsPath {
                config.trustRoots = .certificates([.file(path: rootsPath, format: .pem)])
            }
            if let certificatePath, let keyPath {
                config.certificateChain = [.file(path: certificatePath, format: .pem)]
                config.privateKey = .file(path: keyPath, format: .pem)
            }
        }
    }
}
