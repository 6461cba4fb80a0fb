internal import CryptoExtras
internal import Foundation
internal import X509

enum CertificateRules {
    /// The minimum bits of an RSA key (NIST SP 800-131A disallows fewer than 2048).
    static let minRSABits = 2048

    private static let secondsPerDay = 86_400.0

    /// Signature algorithms with collision-resistant digests; excludes SHA-1 and all unknown ones.
    private static let signatures: Set<Certificate.SignatureAlgorithm> = [
        .ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512, .sha256WithRSAEncryption,
        .sha384WithRSAEncryption, .sha512WithRSAEncryption, .ed25519,
    ]

    /// Whole days until the certificate expires, rounded down; negative once it has.
    static func daysLeft(of certificate: Certificate, at now: Date) -> Int {
        let days = certificate.notValidAfter.timeIntervalSince(now) / Self.secondsPerDay
        return Int(exactly: days.rounded(.down)) ?? 0
    }

    /// Why the certificate is not valid at `now`; nil if it is.
    static func invalidity(of certificate: Certificate, at now: Date) -> String? {
        if now < certificate.notValidBefore {
            return "is not valid before \(Self.text(certificate.notValidBefore))"
        }
        if now > certificate.notValidAfter {
            return "expired at \(Self.text(certificate.notValidAfter))"
        }
        return nil
    }

    /// Why its key is too weak; nil if it is strong enough.
    static func keyWeakness(of certificate: Certificate) -> String? {
        guard let bits = _RSA.Signing.PublicKey(certificate.publicKey)?.keySizeInBits,
            bits < Self.minRSABits
        else { return nil }
        return "has an RSA key of \(bits) bits, and at least \(Self.minRSABits) are needed"
    }

    /// Why its signature algorithm is not accepted; nil if it is.
    static func signatureWeakness(of certificate: Certificate) -> String? {
        guard !Self.signatures.contains(certificate.signatureAlgorithm) else { return nil }
        return "is signed by \(certificate.signatureAlgorithm), and SHA-256 or better is needed"
    }

    /// Whether it may be used for `usage`. Without an extended key usage, any use is allowed.
    static func allows(_ usage: ExtendedKeyUsage.Usage, _ certificate: Certificate) -> Bool {
        do {
            guard let usages = try certificate.extensions.extendedKeyUsage else { return true }
            return usages.contains(usage) || usages.contains(.any)
        } catch {
            // An unreadable extension allows nothing.
            return false
        }
    }

    private static func text(_ date: Date) -> String { date.formatted(.iso8601) }
}
