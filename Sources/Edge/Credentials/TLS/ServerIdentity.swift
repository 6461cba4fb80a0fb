internal import ConfigurationKeys
internal import Foundation
internal import NIOSSL
internal import SwiftASN1
internal import WireFormat
internal import X509

/// The server's certificate, its key and the client roots, read and validated together, so that
/// mismatched files are never used.
struct ServerIdentity: Sendable {
    /// The server's certificate.
    let certificate: Certificate
    /// The roots of client certificates; empty without mTLS.
    let clientRoots: [Certificate]
    /// The chain and the key for the TLS library.
    let override: NIOSSLContextConfigurationOverride

    /// Reads all files.
    ///
    /// - Throws: `ConfigurationError` with every problem, its key and its file.
    init(_ configuration: ServerTLSConfiguration, at now: Date) throws(ConfigurationError) {
        var reader = Reader(now: now)
        let chain = reader.chain(configuration.certificatePath)
        let key = reader.key(configuration.keyPath)
        let roots = reader.clientRoots(configuration.clientRootsPath, mode: configuration.mode)
        if let certificate = chain.first, let key, key.publicKey != certificate.publicKey {
            reader.problems.append(
                "tls.key: \(configuration.keyPath) is not the key of the first certificate in "
                    + "\(configuration.certificatePath) (tls.certificate); give the two that "
                    + "belong together")
        }
        let override = reader.override(chain, key)
        guard reader.problems.isEmpty, let certificate = chain.first, let override else {
            throw ConfigurationError(reader.problems)
        }
        self.certificate = certificate
        self.clientRoots = roots
        self.override = override
    }
}

/// Reads the files and collects their problems.
private struct Reader {
    let now: Date
    var problems: [String] = []

    mutating func chain(_ path: String) -> [Certificate] {
        let key = "tls.certificate"
        let chain = self.certificates(key, path)
        guard let certificate = chain.first else { return [] }
        let faults = [
            CertificateRules.invalidity(of: certificate, at: self.now),
            CertificateRules.keyWeakness(of: certificate),
            CertificateRules.signatureWeakness(of: certificate),
            CertificateRules.allows(.serverAuth, certificate)
                ? nil : "is not meant for servers (its extended key usage lacks serverAuth)",
        ]
        for fault in faults.compactMap(\.self) {
            self.problems.append(
                "\(key): the certificate in \(path) \(fault), and clients would refuse it; put "
                    + "another one there")
        }
        return chain
    }

    mutating func key(_ path: String) -> Certificate.PrivateKey? {
        let name = "tls.key"
        guard let file = self.file(name, path) else { return nil }
        if let exposure = file.exposure { self.problems.append("\(name): \(path) \(exposure)") }
        let keys = file.documents.filter { $0.discriminator.hasSuffix("PRIVATE KEY") }
        guard keys.count == 1, let document = keys.first else {
            self.problems.append("\(name): \(path) holds \(keys.count) private keys, not one")
            return nil
        }
        do {
            return try Certificate.PrivateKey(pemDocument: document)
        } catch {
            self.problems.append(
                "\(name): the \"\(document.discriminator)\" in \(path) cannot be used; an "
                    + "unencrypted key is needed, P-256, P-384, P-521, Ed25519, or RSA of at "
                    + "least \(CertificateRules.minRSABits) bits")
            return nil
        }
    }

    mutating func clientRoots(
        _ path: String, mode: ServerTLSConfiguration.Mode
    ) -> [Certificate] {
        let key = "tls.client_roots"
        guard mode == .mtls else {
            if !path.isEmpty {
                self.problems.append(
                    "\(key) is \"\(path)\", but tls.mode is \(mode.rawValue) and clients would not "
                        + "be asked for a certificate; set tls.mode to mtls, or remove \(key)")
            }
            return []
        }
        let roots = self.certificates(key, path)
        let isUsable = roots.contains { CertificateRules.invalidity(of: $0, at: self.now) == nil }
        if !roots.isEmpty, !isUsable {
            self.problems.append(
                "\(key): no certificate in \(path) is valid now, so no client could connect")
        }
        return roots
    }

    /// Converts the chain and the key for the TLS library, which may refuse what X509 accepts.
    mutating func override(
        _ chain: [Certificate], _ key: Certificate.PrivateKey?
    ) -> NIOSSLContextConfigurationOverride? {
        guard self.problems.isEmpty, let key else { return nil }
        do {
            var override = NIOSSLContextConfigurationOverride()
            override.certificateChain = try chain.map { certificate in
                .certificate(try NIOSSLCertificate(certificate))
            }
            let der = try key.serializeAsPEM().derBytes
            override.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: der, format: .der))
            return override
        } catch {
            self.problems.append(
                "tls.certificate and tls.key: the TLS library refuses them: "
                    + String(reasonOf: error))
            return nil
        }
    }

    private mutating func certificates(_ key: String, _ path: String) -> [Certificate] {
        guard let file = self.file(key, path) else { return [] }
        let documents = file.documents.filter { $0.discriminator == "CERTIFICATE" }
        guard !documents.isEmpty else {
            self.problems.append("\(key): \(path) holds no certificate")
            return []
        }
        do {
            return try documents.map { try Certificate(pemDocument: $0) }
        } catch {
            self.problems.append("\(key): a certificate in \(path) cannot be read: \(error)")
            return []
        }
    }

    private mutating func file(_ key: String, _ path: String) -> PEMFile? {
        guard !path.isEmpty else {
            self.problems.append("\(key) is missing: with TLS it has to name a PEM file")
            return nil
        }
        do {
            return try PEMFile(path: path)
        } catch {
            self.problems.append("\(key): \(path) \(error.reason)")
            return nil
        }
    }
}

extension NIOSSLCertificate {
    /// Converts a certificate for the TLS library.
    convenience init(_ certificate: Certificate) throws {
        try self.init(bytes: try certificate.serializeAsPEM().derBytes, format: .der)
    }
}
