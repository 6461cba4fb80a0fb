package import GRPCNIOTransportHTTP2Posix

/// The TLS settings of connections. The server's certificate is always verified, including its name
/// or address.
package struct ClientSecurity: Sendable, Equatable {
    /// Whether to use TLS. Default false.
    package var isEncrypted = false
    /// The path of a PEM file with the accepted CAs; nil for the system's.
    package var rootsPath: String?
    /// The path of the client certificate (PEM); nil for none.
    package var certificatePath: String?
    /// The path of the client certificate's key (PEM).
    package var keyPath: String?

    /// Creates settings without TLS.
    package init() {}

    /// The settings for the transport.
    package var transportSecurity: HTTP2ClientTransport.Posix.TransportSecurity {
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
