// What a client's certificate has to fulfil, besides a chain that leads to a root and is not
// expired.
internal import SwiftASN1
internal import X509

/// The rules of `CertificateRules` over a whole chain. The TLS library on its own takes RSA keys of
/// 1024 bits and SHA-1.
struct ClientCertificatePolicy: VerifierPolicy {
    /// Usage is judged here; the names are for whoever asks which client it is.
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.extendedKeyUsage, .X509ExtensionID.subjectAlternativeName,
    ]

    func chainMeetsPolicyRequirements(
        chain: UnverifiedCertificateChain
    ) -> PolicyEvaluationResult {
        for certificate in chain {
            if let weakness = CertificateRules.keyWeakness(of: certificate) {
                return .failsToMeetPolicy(reason: "a certificate \(weakness)")
            }
        }
        // The root is trusted because it is in the file, whatever signed it.
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
