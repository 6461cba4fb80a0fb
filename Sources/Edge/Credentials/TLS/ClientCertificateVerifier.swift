internal import Foundation
internal import WireFormat
internal import X509

/// Verifies a client certificate's chain, expiry, constraints, key strength and usage (mTLS). It
/// replaces the TLS library's verification, which accepts weak keys and cannot change its roots at
/// runtime.
///
/// It does no revocation checks: a revoked certificate is accepted until it expires, or until its
/// CA is removed from `tls.client_roots`.
struct ClientCertificateVerifier: Sendable {
    /// The maximum certificates in a client's chain, since verifying each takes time.
    static let maxChainLength = 8

    let roots: [Certificate]
    /// The time at which the whole chain has to be valid.
    let now: Date

    /// Why a certificate was refused.
    struct Refusal: Error {
        let reason: String
    }

    /// The chain from the leaf to its root.
    ///
    /// - Throws: `Refusal`.
    func chain(
        of leaf: Certificate, _ intermediates: [Certificate]
    ) async throws -> [Certificate] {
        var verifier = Verifier(rootCertificates: CertificateStore(self.roots)) {
            RFC5280Policy()
            ClientCertificatePolicy(now: self.now)
        }
        let result = await verifier.validate(
            leaf: leaf, intermediates: CertificateStore(intermediates))
        switch result {
        case .validCertificate(let chain):
            return Array(chain)
        case .couldNotValidate(let failures):
            // A policy's message may contain a whole certificate.
            let reason = failures.first.map { "\($0.policyFailureReason)".cut(toScalars: 200) }
            throw Refusal(reason: reason ?? "it leads to none of the roots")
        }
    }
}
