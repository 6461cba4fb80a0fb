// Certificates as the tests need them, good ones and bad ones, and the files that hold them.
internal import Crypto
internal import Foundation
internal import SwiftASN1
internal import X509

/// A CA that signs whatever a test needs.
struct TestAuthority {
    let certificate: Certificate
    private let key: Certificate.PrivateKey

    /// Negative days are in the past. Without an issuer, it is a root. A renewal keeps the key.
    init(
        _ name: String = "authority", from: Double = -1, until: Double = 100,
        below parent: TestAuthority? = nil, renewing old: TestAuthority? = nil
    ) throws {
        let key = old?.key ?? Certificate.PrivateKey(P256.Signing.PrivateKey())
        self.key = key
        self.certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
            notValidBefore: TestIdentity.date(from), notValidAfter: TestIdentity.date(until),
            issuer: parent?.certificate.subject ?? TestIdentity.name(name),
            subject: TestIdentity.name(name),
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
            }, issuerPrivateKey: parent?.key ?? key)
    }

    /// A certificate of this authority with a key of its own.
    func identity(
        _ name: String = "localhost", from: Double = -1, until: Double = 90,
        usage: ExtendedKeyUsage.Usage? = .serverAuth
    ) throws -> TestIdentity {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        return TestIdentity(
            certificate: try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
                notValidBefore: TestIdentity.date(from), notValidAfter: TestIdentity.date(until),
                issuer: self.certificate.subject, subject: TestIdentity.name(name),
                extensions: Certificate.Extensions {
                    if let usage { try ExtendedKeyUsage([usage]) }
                    SubjectAlternativeNames([
                        .dnsName(name),
                        .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                    ])
                }, issuerPrivateKey: self.key),
            key: key)
    }
}

/// A certificate with its key.
struct TestIdentity {
    let certificate: Certificate
    let key: Certificate.PrivateKey

    static func date(_ days: Double) -> Date { Date().addingTimeInterval(days * 86_400) }

    static func name(_ name: String) throws -> DistinguishedName {
        try DistinguishedName { CommonName(name) }
    }
}

/// The files of a server in a test's directory.
struct TestTLSFiles {
    let directory: String

    var certificate: String { self.directory + "/server.pem" }
    var key: String { self.directory + "/server.key" }
    var clientRoots: String { self.directory + "/clients.pem" }

    /// Where a client's certificate and key are.
    func client(_ name: String) -> (certificate: String, key: String) {
        (self.directory + "/\(name).pem", self.directory + "/\(name).key")
    }

    func write(_ identity: TestIdentity) throws {
        try Self.write(try identity.certificate.serializeAsPEM().pemString, self.certificate)
        try Self.write(try identity.key.serializeAsPEM().pemString, self.key, mode: 0o600)
    }

    func write(roots: [Certificate], to path: String? = nil) throws {
        let text = try roots.map { try $0.serializeAsPEM().pemString }.joined(separator: "\n")
        try Self.write(text, path ?? self.clientRoots)
    }

    func writeClient(_ name: String, _ identity: TestIdentity) throws {
        let (certificate, key) = self.client(name)
        try Self.write(try identity.certificate.serializeAsPEM().pemString, certificate)
        try Self.write(try identity.key.serializeAsPEM().pemString, key, mode: 0o600)
    }

    static func write(_ text: String, _ path: String, mode: Int = 0o644) throws {
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
}
