// What a certificate has to fulfil to be used, the server's own and a client's: pure functions over
// the certificate and a moment.
internal import CryptoExtras
internal import Foundation
internal import X509

enum CertificateRules {
    /// Bits of the shortest RSA key that is taken (NIST SP 800-131A: under 2048 is disallowed).
    static let minRSABits = 2048

    private static let secondsPerDay = 86_400.0

    /// Signatures by digests that nobody can forge; SHA-1 is not one, nor is anything unknown.
    private static let signatures: Set<Certificate.SignatureAlgorithm> = [
        .ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512, .sha256WithRSAEncryption,
        .sha384WithRSAEncryption, .sha512WithRSAEncryption, .ed25519,
    ]

    /// Whole days until the certificate expires, rounded down; negative once it has.
    static func daysLeft(of certificate: Certificate, at now: Date) -> Int {
        let days = certificate.notValidAfter.timeIntervalSince(now) / Self.secondsPerDay
        return Int(exactly: days.rounded(.down)) ?? 0
    }

    /// Why it is not valid at `now`; nil where it is.
    static func invalidity(of certificate: Certificate, at now: Date) -> String? {
        if now < certificate.notValidBefore {
            return "is not valid before \(Self.text(certificate.notValidBefore))"
        }
        if now > certificate.notValidAfter {
            return "expired at \(Self.text(certificate.notValidAfter))"
        }
        return nil
    }

    /// Why its key is too weak; nil where it is not.
    static func keyWeakness(of certificate: Certificate) -> String? {
        guard let bits = _RSA.Signing.PublicKey(certificate.publicKey)?.keySizeInBits,
            bits < Self.minRSABits
        else { return nil }
        return "has an RSA key of \(bits) bits, and at least \(Self.minRSABits) are needed"
    }

    /// Why nobody can rely on its signature; nil where one can.
    static func signatureWeakness(of certificate: Certificate) -> String? {
        guard !Self.signatures.contains(certificate.signatureAlgorithm) else { return nil }
        return "is signed by \(certificate.signatureAlgorithm), and SHA-256 or better is needed"
    }

    /// Whether it may be used for this. One that says nothing of its use may be used for all.
    static func allows(_ usage: ExtendedKeyUsage.Usage, _ certificate: Certificate) -> Bool {
        do {
            guard let usages = try certificate.extensions.extendedKeyUsage else { return true }
            return usages.contains(usage) || usages.contains(.any)
        } catch {
            // An extension that cannot be read allows nothing.
            return false
        }
    }

    private static func text(_ date: Date) -> String { date.formatted(.iso8601) }
}
