internal import ArgumentParser
internal import SightlineClient

/// The TLS options of every command that connects to a server.
struct ClientSecurityOptions: ParsableArguments {
    @Flag(help: "Connect by TLS, and trust the system's authorities.")
    var tls = false

    @Option(help: "Connect by TLS, and trust the authorities in this PEM file.")
    var tlsRoots: String?

    @Option(help: "Show the certificate in this PEM file to the server.")
    var clientCertificate: String?

    @Option(help: "Its key, a PEM file.")
    var clientKey: String?

    func validate() throws {
        guard (self.clientCertificate == nil) == (self.clientKey == nil) else {
            throw ValidationError("--client-certificate and --client-key come together.")
        }
        if self.clientKey != nil, !self.isEncrypted {
            throw ValidationError("--client-certificate needs --tls or --tls-roots.")
        }
    }

    /// The client's TLS settings.
    ///
    /// - Throws: `FileReadError` if a file is missing.
    func security() throws -> ClientSecurity {
        let files = [self.tlsRoots, self.clientCertificate, self.clientKey]
        try InputFile.check(files.compactMap(\.self))
        var security = ClientSecurity()
        security.isEncrypted = self.isEncrypted
        security.rootsPath = self.tlsRoots
        security.certificatePath = self.clientCertificate
        security.keyPath = self.clientKey
        return security
    }

    private var isEncrypted: Bool { self.tls || self.tlsRoots != nil }
}
