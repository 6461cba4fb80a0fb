package import NIOSSL

extension TLSConfiguration {
    /// The TLS settings of requests that the server itself sends by HTTPS: TLS 1.2 or 1.3, as for
    /// those that come. The library's own take 1.0 and 1.1 too, which RFC 8996 has ended.
    ///
    /// - Parameter roots: the path of a PEM file with the accepted authorities; empty for the
    ///   system's.
    package static func outbound(roots: String = "") -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if !roots.isEmpty { configuration.trustRoots = .file(roots) }
        return configuration
    }
}
