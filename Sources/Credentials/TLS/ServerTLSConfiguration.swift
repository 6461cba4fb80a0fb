package import Foundation
internal import TrackingCore

/// The settings `tls.*` of the gRPC port.
package struct ServerTLSConfiguration: Sendable, Equatable {
    /// Who presents a certificate.
    package enum Mode: String, Sendable, CaseIterable {
        /// Nobody: plaintext.
        case off
        /// The server.
        case tls
        /// The server and every client.
        case mtls
    }

    /// `tls.mode`. Default off.
    package var mode = Mode.off
    /// `tls.certificate`: the path of a PEM file with the server's certificate, followed by its
    /// intermediates. Empty for none.
    package var certificatePath = ""
    /// `tls.key`: the path of a PEM file with the unencrypted private key. Empty for none.
    package var keyPath = ""
    /// `tls.client_roots`: the path of a PEM file with the CAs of client certificates. Empty for
    /// none.
    package var clientRootsPath = ""
    /// `tls.reload_seconds`: the interval at which the files are read again. Default 60 s.
    package var reloadInterval = Duration.seconds(60)

    /// Creates settings without TLS.
    package init() {}

    /// The problems of these settings and their files at `now`, a line each with its key. The
    /// server refuses to start for the same ones.
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
