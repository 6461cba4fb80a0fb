package import GRPCNIOTransportHTTP2Posix
internal import WireFormat

/// The TLS settings of connections. The server's certificate is always verified, including its name
/// or address. The files are read for each connection, so that they can be replaced while the
/// client runs.
public struct ClientSecurity: Sendable, Equatable {
    /// Whether to use TLS. Default false.
    public var isEncrypted = false
    /// The path of a PEM file with the accepted CAs; nil for the system's.
    public var rootsPath: String?
    /// The path of the client certificate (PEM); nil for none.
    public var certificatePath: String?
    /// The path of the client certificate's key (PEM).
    public var keyPath: String?

    /// Creates settings without TLS.
    public init() {}

    /// TLS, and with a certificate and its key mTLS.
    public static func tls(
        rootsPath: String? = nil, certificatePath: String? = nil, keyPath: String? = nil
    ) -> ClientSecurity {
        var security = ClientSecurity()
        security.isEncrypted = true
        security.rootsPath = rootsPath
        security.certificatePath = certificatePath
        security.keyPath = keyPath
        return security
    }

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

    /// A connection's transport.
    ///
    /// - Throws: `SightlineClientError.badSecurity`.
    package func transport(
        to address: ServerAddress, config: HTTP2ClientTransport.Posix.Config = .defaults
    ) throws(SightlineClientError) -> HTTP2ClientTransport.Posix {
        do {
            return try HTTP2ClientTransport.Posix(
                target: address.target, transportSecurity: self.transportSecurity, config: config)
        } catch {
            throw .badSecurity(reason: String(reasonOf: error))
        }
    }
}
