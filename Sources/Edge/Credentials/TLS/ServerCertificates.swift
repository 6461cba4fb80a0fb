package import ConfigurationKeys
package import Foundation
package import GRPCNIOTransportHTTP2Posix
package import Logging
internal import NIOCertificateReloading
internal import NIOCore
package import NIOSSL
internal import Pacing
internal import ServiceLifecycle
internal import SwiftASN1
internal import Synchronization
internal import X509

/// The server's certificate and the CAs of its clients, read again periodically and on SIGHUP. New
/// handshakes use the new files; open connections keep the old ones.
///
/// The files are validated together. An expired certificate, or one whose key is not written yet,
/// is not applied: the previous files stay in use.
package final class ServerCertificates: CertificateReloader, Service {
    private struct State {
        var configuration: ServerTLSConfiguration
        var identity: ServerIdentity
        var lastFailure: String?
        var warnedDays: Int?
    }

    /// Below this number of days until expiry, a warning is logged each day.
    static let warningDays = 14

    private let mode: ServerTLSConfiguration.Mode
    private let logger: Logger
    /// The accepted client certificates; unused without mTLS.
    package let clients: ClientTrust
    private let state: Mutex<State>
    /// Held while files are read and applied, so that the last reading wins. Not recursive: call
    /// nothing that locks while holding it.
    private let reading = Mutex(())
    private let clock: any Clock<Duration>
    /// Raised when the settings are changed.
    private let changed = Signal()

    /// Reads and validates the files before the server listens.
    ///
    /// - Parameter clock: measures the time until the next reading; tests substitute it.
    /// - Throws: `ConfigurationError` with every problem and its key.
    package init(
        _ configuration: ServerTLSConfiguration, logger: Logger,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(ConfigurationError) {
        self.mode = configuration.mode
        self.logger = logger
        self.clock = clock
        let identity = try ServerIdentity(configuration, at: Date())
        self.clients = ClientTrust(roots: identity.clientRoots)
        self.state = Mutex(State(configuration: configuration, identity: identity))
        self.report(identity, "certificate loaded")
    }

    /// Whole days until the server's certificate expires; negative once it has.
    package var certificateDaysLeft: Int {
        CertificateRules.daysLeft(of: self.state.withLock { $0.identity.certificate }, at: Date())
    }

    /// When the server's certificate expires.
    package var expiry: Date { self.state.withLock { $0.identity.certificate.notValidAfter } }

    /// The certificate chain and key for the next handshake; the transport asks each time.
    package var sslContextConfigurationOverride: NIOSSLContextConfigurationOverride {
        self.state.withLock { $0.identity.override }
    }

    /// Reads the files again. Problems are logged and change nothing.
    ///
    /// - Returns: whether the files are valid.
    @discardableResult
    package func reload() -> Bool { self.read(isAsked: true) }

    /// Reads the files for a SIGHUP, which may have changed their paths but not the mode. A problem
    /// fails the whole reload.
    ///
    /// - Returns: a closure that applies the change, once no read is under way.
    /// - Throws: `ConfigurationError`.
    package func prepare(
        _ configuration: ServerTLSConfiguration
    ) throws(ConfigurationError) -> @Sendable () -> Void {
        var configuration = configuration
        configuration.mode = self.mode
        let read = (configuration, try ServerIdentity(configuration, at: Date()))
        return {
            // A periodic read of the old paths that is under way would otherwise undo the change.
            self.reading.withLock { _ in self.replace(with: read.1, of: read.0, isAsked: true) }
            self.changed.raise()
        }
    }

    /// Reads the files again every `tls.reload_seconds`, until the server stops. For one task.
    package func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    if try await self.sleep(for: self.interval) { self.read(isAsked: false) }
                }
            }
        } catch is CancellationError {
            // The shutdown has ended the wait.
        }
    }

    private var interval: Duration { self.state.withLock { $0.configuration.reloadInterval } }

    /// Waits for an interval; returns false once another one is in force, for which the files were
    /// read just now.
    private func sleep(for interval: Duration) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await self.clock.sleep(for: interval)
                return true
            }
            group.addTask {
                await withTaskCancellationHandler {
                    while self.interval == interval, !Task.isCancelled {
                        await self.changed.wait()
                    }
                } onCancel: {
                    self.changed.raise()
                }
                try Task.checkCancellation()
                return false
            }
            defer { group.cancelAll() }
            guard let isOver = try await group.next() else { throw CancellationError() }
            return isOver
        }
    }

    /// The transport's security settings. ALPN is required: a client without it is refused.
    ///
    /// With mTLS, handlers find the verified client certificate in `(context.transportSpecific as?
    /// HTTP2ServerTransport.Posix.Context)?.peerCertificate`.
    package func transportSecurity() throws -> HTTP2ServerTransport.Posix.TransportSecurity {
        switch self.mode {
        case .off:
            return .plaintext
        case .tls:
            return try .tls(certificateReloader: self) { $0.requireALPN = true }
        case .mtls:
            let roots = try self.clients.roots.map { root in
                TLSConfig.CertificateSource.bytes(
                    try root.serializeAsPEM().derBytes, format: .der)
            }
            return try .mTLS(certificateReloader: self) { config in
                config.requireALPN = true
                config.trustRoots = .certificates(roots)
                config.customVerificationCallback = { presented, promise in
                    promise.completeWithTask { await self.verify(presented) }
                }
            }
        }
    }

    /// Makes the TLS handlers of the HTTP port's connections, with the same files and rules; nil
    /// without TLS. A client that names no protocol gets HTTP/1.1.
    package func httpHandlers() throws -> (@Sendable () throws -> NIOSSLServerHandler)? {
        guard self.mode != .off else { return nil }
        var configuration = try TLSConfiguration.makeServerConfiguration(certificateReloader: self)
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["h2", "http/1.1"]
        guard self.mode == .mtls else {
            let context = try NIOSSLContext(configuration: configuration)
            return { NIOSSLServerHandler(context: context) }
        }
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates(
            try self.clients.roots.map { try NIOSSLCertificate($0) })
        let context = try NIOSSLContext(configuration: configuration)
        return {
            NIOSSLServerHandler(context: context) { presented, promise in
                promise.completeWithTask { await self.verify(presented) }
            }
        }
    }

    private func verify(
        _ presented: [NIOSSLCertificate]
    ) async -> NIOSSLVerificationResultWithMetadata {
        do {
            let chain = try await self.clients.chain(of: presented)
            return .certificateVerified(
                VerificationMetadata(
                    NIOSSL.ValidatedCertificateChain(try chain.map { try NIOSSLCertificate($0) })))
        } catch {
            let reason = (error as? ClientCertificateVerifier.Refusal)?.reason ?? "\(error)"
            // At debug level: any client can cause it at any rate.
            self.logger.debug("client certificate refused", metadata: ["reason": "\(reason)"])
            return .failed
        }
    }

    @discardableResult
    private func read(isAsked: Bool) -> Bool {
        self.reading.withLock { _ in
            do throws(ConfigurationError) {
                let configuration = self.state.withLock { $0.configuration }
                let identity = try ServerIdentity(configuration, at: Date())
                self.replace(with: identity, of: configuration, isAsked: isAsked)
                return true
            } catch {
                self.report(error, isAsked: isAsked)
                return false
            }
        }
    }

    /// Applies files that were read; the caller holds `reading`.
    private func replace(
        with identity: ServerIdentity, of configuration: ServerTLSConfiguration, isAsked: Bool
    ) {
        let old = self.state.withLock { state in
            defer { state.identity = identity }
            state.configuration = configuration
            state.lastFailure = nil
            return state.identity
        }
        self.clients.replace(roots: identity.clientRoots)
        let isNew =
            old.certificate != identity.certificate || old.clientRoots != identity.clientRoots
        if isNew || isAsked {
            self.report(identity, "certificate reloaded")
        } else {
            self.warn(identity)
        }
    }

    /// Logs a problem once, until a different one occurs.
    private func report(_ error: ConfigurationError, isAsked: Bool) {
        let problems = error.problems.joined(separator: "; ")
        let isKnown = self.state.withLock { state in
            defer { state.lastFailure = problems }
            return state.lastFailure == problems
        }
        guard isAsked || !isKnown else { return }
        self.logger.warning(
            "certificates not reloaded, the old ones stay",
            metadata: [
                "problems": "\(problems)",
                "days_left": .stringConvertible(self.certificateDaysLeft),
            ])
    }

    private func report(_ identity: ServerIdentity, _ message: Logger.Message) {
        self.logger.info(
            message,
            metadata: [
                "mode": "\(self.mode.rawValue)",
                "days_left": .stringConvertible(
                    CertificateRules.daysLeft(of: identity.certificate, at: Date())),
            ])
        self.warn(identity)
    }

    /// Warns of an expiring certificate, once a day.
    private func warn(_ identity: ServerIdentity) {
        let days = CertificateRules.daysLeft(of: identity.certificate, at: Date())
        guard days < Self.warningDays else { return }
        let isSaid = self.state.withLock { state in
            defer { state.warnedDays = days }
            return state.warnedDays == days
        }
        guard !isSaid else { return }
        self.logger.warning(
            "the server's certificate expires soon",
            metadata: ["days_left": .stringConvertible(days)])
    }
}
