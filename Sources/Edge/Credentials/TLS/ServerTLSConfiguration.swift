package import ConfigurationKeys
package import Foundation

/// The settings `tls.*` of the gRPC port.
package struct ServerTLSConfiguration: KeyedConfiguration, Equatable {
    /// Who presents a certificate.
    package enum Mode: String, Sendable, CaseIterable {
        /// Nobody: plaintext.
        case off
        /// The server.
        case tls
        /// The server and every client.
        case mtls
    }

    /// Who presents a certificate.
    package var mode = Mode.off
    /// The path of the server's certificate and its intermediates; empty for none.
    package var certificatePath = ""
    /// The path of the unencrypted private key; empty for none.
    package var keyPath = ""
    /// The path of the CAs of client certificates; empty for none.
    package var clientRootsPath = ""
    /// The interval at which the files are read again.
    package var reloadInterval = Duration.seconds(60)

    /// Creates settings without TLS.
    package init() {}

    /// The keys `tls.*`.
    package static let keys: [Key] = [
        .choice(
            "tls.mode", \.mode, "who shows a certificate: nobody, the server, or each client too"),
        .text(
            "tls.certificate", \.certificatePath,
            "the server's certificate, then what links it to its root", unit: "PEM file",
            isReloadable: true),
        .text(
            "tls.key", \.keyPath,
            "the key of that certificate; others may not read the file", unit: "PEM file",
            isReloadable: true),
        .text(
            "tls.client_roots", \.clientRootsPath,
            "authorities whose client certificates are taken (mtls)", unit: "PEM file",
            isReloadable: true),
        .duration(
            "tls.reload_seconds", \.reloadInterval, 1...86_400,
            "seconds after which the files are read again; broken ones change nothing",
            isReloadable: true),
    ]

    /// The problems of these settings and their files at `now`, each a line with its key. The
    /// server refuses to start if there are any.
    package func problems(at now: Date = Date()) -> [String] {
        guard self.mode != .off else { return self.unusedPaths() }
        do {
            _ = try ServerIdentity(self, at: now)
            return []
        } catch {
            return error.problems
        }
    }

    /// Settings that have no effect in this mode and would be ignored silently.
    private func unusedPaths() -> [String] {
        [
            ("tls.certificate", self.certificatePath), ("tls.key", self.keyPath),
            ("tls.client_roots", self.clientRootsPath),
        ].compactMap { key, path in
            guard !path.isEmpty else { return nil }
            return "\(key) is \"\(path)\", but tls.mode is off and nothing would use it; set "
                + "tls.mode to tls or mtls, or remove \(key)"
        }
    }
}
