#if NATS
// The library's options: who we are, where the servers are, and how it reconnects.
internal import CNats
internal import Foundation

/// Options of a connection; the library copies them when it connects.
final class NATSOptions {
    let pointer: OpaquePointer

    /// Options as a configuration asks for them.
    ///
    /// - Throws: `NATSError` where a file of TLS or credentials cannot be used.
    init(_ configuration: NATSConfiguration) throws {
        var options: OpaquePointer?
        try NATSError.check("natsOptions_Create", natsOptions_Create(&options))
        guard let options else { throw NATSError("natsOptions_Create: no options") }
        self.pointer = options
        try Self.setServers(of: options, configuration)
        try Self.setTrust(of: options, configuration)
        try Self.setCredentials(of: options, configuration)
    }

    deinit { natsOptions_Destroy(self.pointer) }

    private static func setServers(
        of options: OpaquePointer, _ configuration: NATSConfiguration
    ) throws {
        let servers = configuration.servers.map { strdup($0) }
        defer { for server in servers { free(server) } }
        var pointers = servers.map { UnsafePointer($0) }
        try NATSError.check(
            "nats.servers", natsOptions_SetServers(options, &pointers, CInt(pointers.count)))
        try NATSError.check("name", natsOptions_SetName(options, "sightline"))
        try NATSError.check("timeout", natsOptions_SetTimeout(options, 2000))
        // Never stop: by default the library gives up after 60 attempts.
        try NATSError.check("reconnects", natsOptions_SetMaxReconnect(options, -1))
        try NATSError.check("reconnects", natsOptions_SetReconnectWait(options, 500))
        try NATSError.check("reconnects", natsOptions_SetReconnectJitter(options, 250, 250))
        // Detects a silent server after 2 × 5 s.
        try NATSError.check("pings", natsOptions_SetPingInterval(options, 5000))
        try NATSError.check("pings", natsOptions_SetMaxPingsOut(options, 2))
        // Without it a write waits for ever for a server that does not read, and with it PINGs and
        // acks. A third, because a publish may have to wait for another write, and the library
        // frees a message at the end of its ack's time, also one that is still being written.
        let deadline = configuration.ackTimeout.milliseconds / 3
        try NATSError.check("writes", natsOptions_SetWriteDeadline(options, deadline))
    }

    private static func setTrust(
        of options: OpaquePointer, _ configuration: NATSConfiguration
    ) throws {
        // Without it the library uses TLS only where the server says that it has to.
        if configuration.isTLS {
            try NATSError.check("TLS", natsOptions_SetSecure(options, true))
        }
        if !configuration.tlsRoots.isEmpty {
            try NATSError.check(
                "nats.tls.roots is \"\(configuration.tlsRoots)\"",
                natsOptions_LoadCATrustedCertificates(options, configuration.tlsRoots))
        }
        if !configuration.tlsCertificate.isEmpty {
            try NATSError.check(
                "nats.tls.certificate is \"\(configuration.tlsCertificate)\"",
                natsOptions_LoadCertificatesChain(
                    options, configuration.tlsCertificate, configuration.tlsKey))
        }
    }

    private static func setCredentials(
        of options: OpaquePointer, _ configuration: NATSConfiguration
    ) throws {
        if !configuration.credentialsFile.isEmpty {
            try NATSError.check(
                "nats.credentials_file is \"\(configuration.credentialsFile)\"",
                natsOptions_SetUserCredentialsFromFiles(
                    options, configuration.credentialsFile, nil))
        }
        if !configuration.user.isEmpty {
            let password = try String(
                contentsOfFile: configuration.passwordFile, encoding: .utf8
            ).trimmingCharacters(in: .newlines)
            try NATSError.check(
                "nats.user is \"\(configuration.user)\"",
                natsOptions_SetUserInfo(options, configuration.user, password))
        }
    }
}
#endif
