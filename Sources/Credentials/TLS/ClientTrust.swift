package import Foundation
internal import NIOSSL
internal import SwiftASN1
internal import Synchronization
package import X509

/// Verifies client certificates in handshakes, and again for each call.
///
/// A handshake is not enough. A client that resumes a session (the TLS library's tickets last 2
/// hours) presents no certificate, and a connection may outlive its certificate or a change of the
/// roots. For a call, a verified certificate only costs a lookup in a set.
package final class ClientTrust: Sendable {
    /// The number of verified certificates to remember; beyond it the set is cleared.
    static let maxRemembered = 4096
    /// The number of intermediate CAs to remember for resumed sessions.
    static let maxIntermediates = 64

    private struct State {
        var roots: [Certificate]
        /// Incremented when the roots change, so that results for the old roots are not remembered.
        var generation = 0
        var taken: Set<Certificate> = []
        /// By subject: the library tries every order of those that have one name.
        var intermediates: [DistinguishedName: Certificate] = [:]
    }

    private let state: Mutex<State>

    init(roots: [Certificate]) { self.state = Mutex(State(roots: roots)) }

    var roots: [Certificate] { self.state.withLock { $0.roots } }

    /// Replaces the roots, and forgets certificates verified by the old ones.
    func replace(roots: [Certificate]) {
        self.state.withLock { state in
            guard state.roots != roots else { return }
            state.roots = roots
            state.generation &+= 1
            state.taken = []
        }
    }

    /// Verifies what a client presents in its handshake; returns the chain, leaf first.
    ///
    /// - Throws: `ClientCertificateVerifier.Refusal`.
    func chain(of presented: [NIOSSLCertificate]) async throws -> [Certificate] {
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
        // Of CAs with one name each may have signed each other, and the library tries every order:
        // for seven of them 13,700 signatures.
        guard Set(certificates.map(\.subject)).count == certificates.count else {
            throw ClientCertificateVerifier.Refusal(
                reason: "two certificates have the same subject: present one path to a root")
        }
        return try await self.judge(leaf, Array(certificates.dropFirst()))
    }

    /// Whether the certificate of a connection is still accepted at `now`.
    package func isTaken(_ leaf: Certificate, at now: Date) async -> Bool {
        guard CertificateRules.invalidity(of: leaf, at: now) == nil else { return false }
        let (isKnown, intermediates) = self.state.withLock { state in
            (state.taken.contains(leaf), Array(state.intermediates.values))
        }
        if isKnown { return true }
        do {
            _ = try await self.judge(leaf, intermediates)
            return true
        } catch {
            return false
        }
    }

    private func judge(
        _ leaf: Certificate, _ intermediates: [Certificate]
    ) async throws -> [Certificate] {
        let (roots, generation) = self.state.withLock { ($0.roots, $0.generation) }
        let chain = try await ClientCertificateVerifier(roots: roots).chain(of: leaf, intermediates)
        self.state.withLock { state in
            guard state.generation == generation else { return }
            if state.taken.count >= Self.maxRemembered { state.taken = [] }
            state.taken.insert(leaf)
            for intermediate in chain.dropFirst().dropLast() {
                if state.intermediates.count >= Self.maxIntermediates { state.intermediates = [:] }
                state.intermediates[intermediate.subject] = intermediate
            }
        }
        return chain
    }
}
