// Says who an RPC comes from: the shell around the rules of credentials, which a reload replaces.
package import GRPCCore
package import Logging
internal import Synchronization
package import TrackingCore
package import X509

/// Judges the credentials of RPCs.
package final class Authenticator: Sendable {
    private let modes: Set<AuthConfiguration.Mode>
    private let rules: Mutex<CredentialRules>
    private let clock: CredentialClock
    private let logger: Logger

    /// Reads the files of credentials.
    ///
    /// - Throws: `ConfigurationError`, which names the keys of the files that cannot be used.
    package init(
        _ configuration: AuthConfiguration, clock: CredentialClock = .system, logger: Logger
    ) async throws(ConfigurationError) {
        self.modes = configuration.modes
        self.rules = Mutex(try await CredentialRules(configuration))
        self.clock = clock
        self.logger = logger
    }

    /// Reads the files anew, for a reload. RPCs that begin once the change is made are judged by
    /// them; those that run go on.
    ///
    /// - Returns: what makes the change.
    /// - Throws: `ConfigurationError`.
    package func prepare(
        _ configuration: AuthConfiguration
    ) async throws(ConfigurationError) -> @Sendable () -> Void {
        var configuration = configuration
        configuration.modes = self.modes
        let rules = try await CredentialRules(configuration)
        return { self.rules.withLock { $0 = rules } }
    }

    /// Who an RPC with these metadata comes from.
    ///
    /// - Throws: why they are refused, which is for the logs: clients are told less of it, and
    ///   neither is told anything of the credentials themselves.
    package func principal(
        _ metadata: Metadata, certificate: Certificate?
    ) throws(CredentialRefusal) -> Principal {
        let rules = self.rules.withLock { $0 }
        do throws(CredentialRefusal) {
            let credential = try PresentedCredential(metadata)
            return try rules.principal(
                of: credential, certificate: certificate, now: self.clock.now())
        } catch {
            self.logger.debug("credentials refused", metadata: ["reason": "\(error.rawValue)"])
            throw error
        }
    }
}
