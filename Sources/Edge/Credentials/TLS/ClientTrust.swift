package import Foundation
internal import NIOSSL
internal import SwiftASN1
internal import Synchronization
package import X509

/// Verifies client certificates in handshakes, and again for each call.
///
/// A handshake is not enough. A client that resumes a session (the TLS library's tickets last 2
/// hours) presents no certificate, and a connection may outlive its certificate or a change of the
/// roots. For a call, a verified certificate only costs a lookup in a table.
package final class ClientTrust: Sendable {
    /// The number of verified certificates to remember; beyond it the table is cleared.
    static let maxRemembered = 4096
    /// The number of intermediate CAs to remember for certificates that are not remembered.
    static let maxIntermediates = 64

    /// A verified certificate in the table.
    private struct Taken {
        /// The intermediates of its own chain, fewer than
        /// `ClientCertificateVerifier.maxChainLength`. Another client's intermediates may have the
        /// same names and other keys.
        let intermediates: [Certificate]
        /// The generation of the roots that verified it.
        let generation: Int
        /// When the first certificate of its chain expires.
        let end: Date
    }

    private struct State {
        var roots: [Certificate]
        /// Incremented when the roots change: certificates verified by older roots are verified
        /// again.
        var generation = 0
        var taken: [Certificate: Taken] = [:]
        /// Intermediates of all clients, for a leaf that comes without any, as in a resumed
        /// session. One for each subject, because the library tries every order of those with the
        /// same subject.
        var intermediates: [DistinguishedName: Certificate] = [:]
    }

    private let state: Mutex<State>

    init(roots: [Certificate]) { self.state = Mutex(State(roots: roots)) }

    var roots: [Certificate] { self.state.withLock { $0.roots } }

    /// Replaces the roots. Certificates verified by the old ones are verified again.
    func replace(roots: [Certificate]) {
        self.state.withLock { state in
            guard state.roots != roots else { return }
            state.roots = roots
            state.generation &+= 1
        }
    }

    /// Verifies what a client presents in its handshake; returns the chain, leaf first.
    ///
    /// - Throws: `ClientCertificateVerifier.Refusal`.
    func chain(
        of presented: [NIOSSLCertificate], at now: Date = Date()
    ) async throws -> [Certificate] {
        guard presented.count <= ClientCertificateVerifier.maxChainLength else {
            throw ClientCertificateVerifier.Refusal(
                reason: "\(presented.count) certificates, the limit is "
                    + "\(ClientCertificateVerifier.maxChainLength)")
        }
        let certificates: [Certificate]
        do {
            certificates = try presented.map { try Certificate(derEncoded: $0.toDERBytes()) }
        } catch {
            throw ClientCertificateVerifier.Refusal(reason: "a certificate cannot be read")
        }
        guard let leaf = certificates.first else {
            throw ClientCertificateVerifier.Refusal(reason: "no certificate")
        }
        // CAs with the same subject may cross-sign each other, and the verifier tries every order:
        // for seven of them, 13,700 signatures.
        guard Set(certificates.map(\.subject)).count == certificates.count else {
            throw ClientCertificateVerifier.Refusal(
                reason: "two certificates have the same subject: present one path to a root")
        }
        return try await self.judge(leaf, Array(certificates.dropFirst()), at: now)
    }

    /// Whether the certificate of a connection is still accepted at `now`.
    package func isTaken(_ leaf: Certificate, at now: Date) async -> Bool {
        guard CertificateRules.invalidity(of: leaf, at: now) == nil else { return false }
        let (known, generation, shared) = self.state.withLock { state in
            (state.taken[leaf], state.generation, state.intermediates)
        }
        if let known {
            if known.generation == generation, now <= known.end { return true }
            if await self.isVerified(leaf, known.intermediates, at: now) { return true }
        }
        // Its own intermediates may have expired, and another client may have presented renewed
        // ones.
        let path = Self.path(above: leaf, in: shared)
        guard path != known?.intermediates else { return false }
        return await self.isVerified(leaf, path, at: now)
    }

    /// The intermediates that lead upwards from `leaf` by their names.
    private static func path(
        above leaf: Certificate, in intermediates: [DistinguishedName: Certificate]
    ) -> [Certificate] {
        var path: [Certificate] = []
        var issuer = leaf.issuer
        // CAs that cross-sign each other form a cycle.
        while path.count < ClientCertificateVerifier.maxChainLength - 1,
            let next = intermediates[issuer], !path.contains(next)
        {
            path.append(next)
            issuer = next.issuer
        }
        return path
    }

    private func isVerified(
        _ leaf: Certificate, _ intermediates: [Certificate], at now: Date
    ) async -> Bool {
        do {
            _ = try await self.judge(leaf, intermediates, at: now)
            return true
        } catch {
            return false
        }
    }

    private func judge(
        _ leaf: Certificate, _ intermediates: [Certificate], at now: Date
    ) async throws -> [Certificate] {
        let (roots, generation) = self.state.withLock { ($0.roots, $0.generation) }
        let verifier = ClientCertificateVerifier(roots: roots, now: now)
        let chain = try await verifier.chain(of: leaf, intermediates)
        // Only the chain, not all that was presented: a client could fill the table with 100 KB.
        let authorities = Array(chain.dropFirst().dropLast())
        let taken = Taken(
            intermediates: authorities, generation: generation,
            end: chain.map(\.notValidAfter).min() ?? now)
        // If the roots have changed meanwhile, the old generation makes it be verified again.
        self.state.withLock { state in
            if state.taken[leaf] == nil, state.taken.count >= Self.maxRemembered {
                state.taken = [:]
            }
            state.taken[leaf] = taken
            for intermediate in authorities {
                if state.intermediates.count >= Self.maxIntermediates { state.intermediates = [:] }
                state.intermediates[intermediate.subject] = intermediate
            }
        }
        return chain
    }
}
