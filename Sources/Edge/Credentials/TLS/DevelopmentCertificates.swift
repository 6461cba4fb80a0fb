internal import Crypto
package import Foundation
internal import SwiftASN1
internal import X509

/// Certificates to try TLS: a CA, a server and a client, with names that exclude production use.
/// The CA's key is discarded, so that it can never issue another certificate.
package struct DevelopmentCertificates {
    /// A PEM file.
    package struct File {
        /// Its name, without a directory.
        package let name: String
        /// Its contents, which end with a line's end: joined files are PEM too.
        package let text: String

        init(name: String, pem: String) {
            self.name = name
            self.text = pem.hasSuffix("\n") ? pem : pem + "\n"
        }
    }

    /// The organization in every certificate.
    package static let organization = "Sightline development, not for production"
    /// The tolerated clock difference between server and client, in seconds.
    private static let clockDifference: TimeInterval = 300

    /// All files, including the keys.
    package let files: [File]

    /// Creates the certificates.
    ///
    /// - Parameters:
    ///   - names: the server's DNS names and IP addresses.
    ///   - client: the client's name.
    ///   - days: their lifetime.
    ///   - now: the start of their lifetime, apart from the clock difference.
    package init(names: [String], client: String, days: Int, now: Date) throws {
        let period = DateInterval(
            start: now.addingTimeInterval(-Self.clockDifference),
            end: now.addingTimeInterval(Double(days) * 86_400))
        let issuer = try Self.name("Sightline development CA, not for production")
        let issuerKey = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let authority = try Self.certificate(
            issuer, key: issuerKey.publicKey, issuer: issuer, issuerKey: issuerKey, period,
            Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            })
        func pair(
            _ file: String, _ name: String, _ alternatives: [String],
            _ usage: ExtendedKeyUsage.Usage
        ) throws -> [File] {
            let key = P256.Signing.PrivateKey()
            let certificate = try Self.certificate(
                try Self.name(name), key: Certificate.PrivateKey(key).publicKey, issuer: issuer,
                issuerKey: issuerKey, period,
                Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([usage])
                    SubjectAlternativeNames(alternatives.map(Self.alternativeName))
                })
            return [
                File(name: "\(file).pem", pem: try certificate.serializeAsPEM().pemString),
                File(name: "\(file).key", pem: key.pemRepresentation),
            ]
        }
        let root = File(name: "ca.pem", pem: try authority.serializeAsPEM().pemString)
        self.files =
            try [root] + pair("server", names.first ?? "localhost", names, .serverAuth)
            + pair("client", client, [client], .clientAuth)
    }

    private static func certificate(
        _ subject: DistinguishedName, key: Certificate.PublicKey, issuer: DistinguishedName,
        issuerKey: Certificate.PrivateKey, _ period: DateInterval,
        _ extensions: Certificate.Extensions
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key,
            notValidBefore: period.start, notValidAfter: period.end, issuer: issuer,
            subject: subject, extensions: extensions, issuerPrivateKey: issuerKey)
    }

    private static func name(_ name: String) throws -> DistinguishedName {
        try DistinguishedName {
            OrganizationName(Self.organization)
            CommonName(name)
        }
    }

    private static func alternativeName(_ text: String) -> GeneralName {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var address = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &address) == 1 {
                return .ipAddress(ASN1OctetString(contentBytes: address[...]))
            }
        }
        return .dnsName(text)
    }
}
