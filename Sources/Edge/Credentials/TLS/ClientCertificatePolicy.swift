internal import Foundation
internal import SwiftASN1
internal import X509

/// Applies `CertificateRules` to the whole chain of a client's certificate. The TLS library alone
/// accepts RSA keys of 1024 bits and SHA-1.
struct ClientCertificatePolicy: VerifierPolicy {
    /// The caller's time; the library compares the chain's dates with the system's clock alone.
    let now: Date

    /// The critical extensions that are checked: this policy checks the key usage, and
    /// `CertificateTenants` reads the names, which may be critical too.
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.extendedKeyUsage, .X509ExtensionID.subjectAlternativeName,
    ]

    func chainMeetsPolicyRequirements(
        chain: UnverifiedCertificateChain
    ) -> PolicyEvaluationResult {
        for certificate in chain {
            if let invalidity = CertificateRules.invalidity(of: certificate, at: self.now) {
                return .failsToMeetPolicy(reason: "a certificate \(invalidity)")
            }
            if let weakness = CertificateRules.keyWeakness(of: certificate) {
                return .failsToMeetPolicy(reason: "a certificate \(weakness)")
            }
        }
        // A root is trusted because the file contains it; its own signature is irrelevant.
        for certificate in chain.dropLast() {
            if let weakness = CertificateRules.signatureWeakness(of: certificate) {
                return .failsToMeetPolicy(reason: "a certificate \(weakness)")
            }
        }
        guard let leaf = chain.first, CertificateRules.allows(.clientAuth, leaf) else {
            return .failsToMeetPolicy(reason: "its extended key usage lacks clientAuth")
        }
        return .meetsPolicy
    }
}
