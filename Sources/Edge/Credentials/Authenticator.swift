package import ConfigurationKeys
package import GRPCCore
package import Logging
internal import Synchronization
package import X509

/// Verifies the credentials of RPCs. The server creates one from `auth.*`, asks it for the
/// principal of each RPC before a message is read, and replaces its rules atomically on a reload.
///
/// It never reveals to a client why credentials were refused, never logs any part of them, and
/// never fetches a key from the network.
package final class Authenticator: Sendable {
    private let modes: Set<AuthConfiguration.Mode>
    private let rules: Mutex<CredentialRules>
    private let clock: CredentialClock
    private let logger: Logger

    /// Reads the credential files.
    ///
    /// - Throws: `ConfigurationError` with the keys of unusable files.
    package init(
        _ configuration: AuthConfiguration, clock: CredentialClock = .system, logger: Logger
    ) async throws(ConfigurationError) {
        self.modes = configuration.modes
        self.rules = Mutex(try await CredentialRules(configuration))
        self.clock = clock
        self.logger = logger
    }

    /// Reads the files again for a reload. RPCs that begin after the change use the new rules;
    /// running ones are not interrupted.
    ///
    /// - Returns: a closure that applies the change.
    /// - Throws: `ConfigurationError`.
    package func prepare(
        _ configuration: AuthConfiguration
    ) async throws(ConfigurationError) -> @Sendable () -> Void {
        var configuration = configuration
        configuration.modes = self.modes
        let rules = try await CredentialRules(configuration)
        return { self.rules.withLock { $0 = rules } }
    }

    /// The principal of an RPC.
    ///
    /// - Parameter needsScope: whether `auth.required_scope` applies: not to a method that has its
    ///   own scope.
    /// - Throws: the reason of a refusal, for logs only. Clients learn less, and neither reveals
    ///   any part of the credentials.
    package func principal(
        _ metadata: Metadata, certificate: Certificate?, needsScope: Bool
    ) throws(CredentialRefusal) -> Principal {
        let rules = self.rules.withLock { $0 }
        do throws(CredentialRefusal) {
            let credential = try PresentedCredential(metadata)
            return try rules.principal(
                of: credential, certificate: certificate, needsScope: needsScope,
                now: self.clock.now())
        } catch {
            self.logger.debug("credentials refused", metadata: ["reason": "\(error.rawValue)"])
            throw error
        }
    }
}
