internal import ConfigurationKeys
internal import Credentials
internal import Logging
internal import ServerConfiguration

/// The callers' certificates, credentials and quotas. Each is read again on SIGHUP.
struct Access {
    /// Nil without TLS.
    let certificates: ServerCertificates?
    /// Nil if no credentials are required.
    let authenticator: Authenticator?
    let quotas: TenantQuotas

    /// Reads their files.
    init(
        configuration: ServerConfiguration, reloader: Reloader?, logger: Logger
    ) async throws(ConfigurationError) {
        if configuration.tls.mode == .off {
            self.certificates = nil
        } else {
            let certificates = try ServerCertificates(configuration.tls, logger: logger)
            reloader?.add(Reloadable("certificates") { try certificates.prepare($0.tls) })
            self.certificates = certificates
        }
        if configuration.auth.modes.isEmpty {
            self.authenticator = nil
        } else {
            let authenticator = try await Authenticator(configuration.auth, logger: logger)
            reloader?.add(Reloadable("credentials") { try await authenticator.prepare($0.auth) })
            self.authenticator = authenticator
        }
        let quotas = try TenantQuotas(configuration.quotas)
        reloader?.add(Reloadable("quotas") { try quotas.prepare($0.quotas) })
        self.quotas = quotas
    }
}
