// How the gRPC port is secured: what the `tls.*` keys say, before any file is read.
package import Foundation
internal import TrackingCore

/// The values of the `tls.*` keys.
package struct ServerTLSConfiguration: Sendable, Equatable {
    /// Who shows a certificate.
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
    /// `tls.certificate`: PEM, the server's own certificate first, then what links it to its root.
    /// Empty where there is none.
    package var certificatePath = ""
    /// `tls.key`: PEM, the key of the first certificate, unencrypted. Empty where there is none.
    package var keyPath = ""
    /// `tls.client_roots`: PEM, the authorities whose client certificates are taken. Empty where
    /// there are none.
    package var clientRootsPath = ""
    /// `tls.reload_seconds`: how often the files are read again. Default 60 s.
    package var reloadInterval = Duration.seconds(60)

    /// The defaults: no TLS.
    package init() {}

    /// Everything that keeps these values, and the files that they name, from being used at `now`;
    /// a line each, which names its key. The start reports the same.
    package func problems(at now: Date = Date()) -> [String] {
        guard self.mode != .off else { return self.unusedPaths() }
        do {
            _ = try ServerIdentity(self, at: now)
            return []
        } catch {
            return error.problems
        }
    }

    /// Files that somebody meant to be used, and that would be passed over in silence.
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
