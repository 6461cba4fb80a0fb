// Judges the chain of a client's certificate (mTLS).
internal import X509

/// Verifies chain, expiry, constraints, key strength and usage. It stands in for the TLS library's
/// own verification, which takes weak keys, and whose roots cannot change while it runs.
///
/// Nothing is asked of the network: a revoked certificate is taken until it expires, or until its
/// authority leaves `tls.client_roots`.
struct ClientCertificateVerifier: Sendable {
    /// Certificates of the longest chain that a client may present: each one costs time.
    static let maxChainLength = 8

    let roots: [Certificate]

    /// Why certificates are refused.
    struct Refusal: Error {
        let reason: String
    }

    /// The chain from the leaf to its root. Throws `Refusal`.
    func chain(
        of leaf: Certificate, _ intermediates: [Certificate]
    ) async throws -> [Certificate] {
        var verifier = Verifier(rootCertificates: CertificateStore(self.roots)) {
            RFC5280Policy()
            ClientCertificatePolicy()
        }
        let result = await verifier.validate(
            leaf: leaf, intermediates: CertificateStore(intermediates))
        switch result {
        case .validCertificate(let chain):
            return Array(chain)
        case .couldNotValidate(let failures):
            // A policy's words may hold a whole certificate.
            let reason = failures.first.map { String("\($0.policyFailureReason)".prefix(200)) }
            throw Refusal(reason: reason ?? "it leads to none of the roots")
        }
    }
}
