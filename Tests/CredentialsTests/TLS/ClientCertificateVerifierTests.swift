// Which client certificates are taken, and how long the server's own one lasts.
@testable internal import Credentials
internal import Foundation
internal import NIOSSL
internal import SwiftASN1
internal import Testing
internal import X509

struct ClientCertificateVerifierTests {
    @Test(
        "a certificate is taken when it is in time and meant for clients",
        arguments: [
            (-1, 1, ExtendedKeyUsage.Usage.clientAuth, true), (-1, 1, nil, true),
            (-1, 1, .any, true), (-1, 1, .serverAuth, false), (-2, -0.01, .clientAuth, false),
            (0.01, 1, .clientAuth, false),
        ])
    func leaf(
        _ from: Double, _ until: Double, _ usage: ExtendedKeyUsage.Usage?, _ isTaken: Bool
    ) async throws {
        let authority = try TestAuthority()
        let client = try authority.identity("client", from: from, until: until, usage: usage)
        let taken = await self.isTaken([client.certificate], roots: [authority.certificate])
        #expect(taken == isTaken)
    }

    @Test("a certificate of no root of ours is refused, whatever it calls its authority")
    func otherAuthority() async throws {
        let authority = try TestAuthority()
        let namesake = try TestAuthority()
        let client = try namesake.identity("client", usage: .clientAuth).certificate
        #expect(await !self.isTaken([client], roots: [authority.certificate]))
        #expect(
            await !self.isTaken([client, namesake.certificate], roots: [authority.certificate]))
        #expect(await self.isTaken([client], roots: [authority.certificate, namesake.certificate]))
        #expect(await !self.isTaken([client], roots: []))
        #expect(await !self.isTaken([], roots: [authority.certificate]))
    }

    @Test("a client is no authority: what it signs is refused")
    func notAnAuthority() async throws {
        let authority = try TestAuthority()
        let expired = try TestAuthority(from: -3, until: -1)
        let client = try expired.identity("client", usage: .clientAuth).certificate
        #expect(await !self.isTaken([client], roots: [expired.certificate]))
        let selfSigned = try TestAuthority("client").certificate
        #expect(await !self.isTaken([selfSigned], roots: [authority.certificate]))
    }

    @Test("a chain at the limit is taken, and refused one beyond")
    func length() async throws {
        let authority = try TestAuthority()
        let client = try authority.identity("client", usage: .clientAuth).certificate
        let padding = try (1..<ClientCertificateVerifier.maxChainLength).map { number in
            try TestAuthority("padding \(number)").certificate
        }
        #expect(await self.isTaken([client] + padding, roots: [authority.certificate]))
        let one = try TestAuthority("one beyond").certificate
        #expect(await !self.isTaken([client] + padding + [one], roots: [authority.certificate]))
    }

    @Test(
        "days left are whole days, rounded down",
        arguments: [(1.5, 1), (0.5, 0), (-0.5, -1), (90.01, 90), (14, 14), (13.999, 13)])
    func daysLeft(_ left: Double, _ days: Int) throws {
        let certificate = try TestAuthority().identity(from: -2, until: 1).certificate
        let now = certificate.notValidAfter.addingTimeInterval(-left * 86_400)
        #expect(CertificateRules.daysLeft(of: certificate, at: now) == days)
    }

    @Test("a certificate that was taken is taken until it expires, or its root goes")
    func stillTaken() async throws {
        let (first, second) = (try TestAuthority("first"), try TestAuthority("second"))
        let client = try first.identity("client", until: 1, usage: .clientAuth).certificate
        let trust = ClientTrust(roots: [first.certificate])
        #expect(await trust.isTaken(client, at: Date()), "also one that nobody has judged yet")
        #expect(await trust.isTaken(client, at: Date()), "and once it is remembered")
        #expect(await !trust.isTaken(client, at: TestIdentity.date(2)))
        trust.replace(roots: [second.certificate, first.certificate])
        #expect(await trust.isTaken(client, at: Date()))
        trust.replace(roots: [second.certificate])
        #expect(await !trust.isTaken(client, at: Date()))
    }

    @Test("certificates of one name are refused before any signature is checked")
    func sameSubject() async throws {
        let authority = try TestAuthority()
        let client = try authority.identity("client", usage: .clientAuth).certificate
        let (first, second) = (try TestAuthority("twin"), try TestAuthority("twin"))
        let one = try [client, first.certificate].map(self.presented)
        let trust = ClientTrust(roots: [authority.certificate])
        #expect(try await trust.chain(of: one).first == client)
        let error = await #expect(throws: ClientCertificateVerifier.Refusal.self) {
            _ = try await trust.chain(of: one + [self.presented(second.certificate)])
        }
        #expect(error?.reason.contains("same subject") == true)
    }

    @Test("a session that is resumed shows no chain: the authorities between are remembered")
    func intermediate() async throws {
        let root = try TestAuthority("root")
        let between = try TestAuthority("between", below: root)
        let client = try between.identity("client", usage: .clientAuth).certificate
        let other = try between.identity("other", usage: .clientAuth).certificate
        let trust = ClientTrust(roots: [root.certificate])
        #expect(await !trust.isTaken(other, at: Date()), "nothing leads to the root")
        let presented = try [client, between.certificate].map(self.presented)
        let chain = try await trust.chain(of: presented)
        #expect(chain == [client, between.certificate, root.certificate])
        #expect(await trust.isTaken(other, at: Date()))
        trust.replace(roots: [try TestAuthority("another").certificate, root.certificate])
        #expect(await trust.isTaken(client, at: Date()), "judged anew, by what was shown")
        trust.replace(roots: [try TestAuthority("another").certificate])
        #expect(await !trust.isTaken(client, at: Date()))
    }

    @Test("of authorities with one name, a client is judged anew by the one that it has shown")
    func rekeyedAuthority() async throws {
        let root = try TestAuthority("root")
        let trust = ClientTrust(roots: [root.certificate])
        var clients: [Certificate] = []
        for _ in 0..<2 {
            let between = try TestAuthority("between", below: root)
            let client = try between.identity("client", usage: .clientAuth).certificate
            let presented = try [client, between.certificate].map(self.presented)
            _ = try await trust.chain(of: presented)
            clients.append(client)
        }
        let another = try TestAuthority("another").certificate
        for (roots, isTaken) in [
            ([root.certificate, another], true), ([another], false), ([root.certificate], true),
        ] {
            trust.replace(roots: roots)
            for client in clients {
                #expect(await trust.isTaken(client, at: Date()) == isTaken)
            }
        }
    }

    @Test(
        "a certificate that was taken is refused once an authority above it has expired",
        arguments: [(1.0, 50.0), (50.0, 1.0)])
    func expiredAuthority(_ betweenDays: Double, _ rootDays: Double) async throws {
        let root = try TestAuthority("root", until: rootDays)
        let between = try TestAuthority("between", until: betweenDays, below: root)
        let client = try between.identity("client", usage: .clientAuth).certificate
        let trust = ClientTrust(roots: [root.certificate])
        let presented = try [client, between.certificate].map(self.presented)
        _ = try await trust.chain(of: presented)
        #expect(await trust.isTaken(client, at: TestIdentity.date(0.9)))
        #expect(await !trust.isTaken(client, at: TestIdentity.date(1.1)))
    }

    @Test("where an authority has expired, its renewal that another client has shown counts")
    func renewedAuthority() async throws {
        let root = try TestAuthority("root")
        let old = try TestAuthority("between", until: 1, below: root)
        let renewal = try TestAuthority("between", until: 50, below: root, renewing: old)
        let client = try old.identity("client", usage: .clientAuth).certificate
        let other = try renewal.identity("other", usage: .clientAuth).certificate
        let trust = ClientTrust(roots: [root.certificate])
        _ = try await trust.chain(of: try [client, old.certificate].map(self.presented))
        #expect(await !trust.isTaken(client, at: TestIdentity.date(2)))
        _ = try await trust.chain(of: try [other, renewal.certificate].map(self.presented))
        #expect(await trust.isTaken(client, at: TestIdentity.date(2)))
        #expect(await !trust.isTaken(client, at: TestIdentity.date(51)), "it has expired too")
    }

    private func presented(_ certificate: Certificate) throws -> NIOSSLCertificate {
        try NIOSSLCertificate(bytes: try certificate.serializeAsPEM().derBytes, format: .der)
    }

    private func isTaken(_ presented: [Certificate], roots: [Certificate]) async -> Bool {
        do {
            let certificates = try presented.map(self.presented)
            let chain = try await ClientTrust(roots: roots).chain(of: certificates)
            return chain.first == presented.first
        } catch {
            return false
        }
    }
}
