internal import HTTP2Edge
internal import NIOCore
internal import NIOSSL
internal import SwiftASN1
internal import X509

/// What the requests of a connection have in common. Used on its event loop alone.
final class DoorConnection {
    /// What it has of the bounds that tenants share.
    let shares: ConnectionShares
    private let channel: any Channel

    /// The address of its peer as gRPC names it, as in `ipv4:192.0.2.1:4711`.
    private(set) lazy var address = Self.name(of: self.channel.remoteAddress)

    /// The certificate that its peer has shown; nil without mutual TLS. Read once: first by the
    /// first request, after the handshake.
    private(set) lazy var certificate = self.readCertificate()

    init(_ channel: any Channel, _ shares: ConnectionShares) {
        self.channel = channel
        self.shares = shares
    }

    private static func name(of address: SocketAddress?) -> String {
        // Nil once the peer has gone.
        guard let address, let host = address.ipAddress, let port = address.port else {
            return "unknown"
        }
        return host.contains(":") ? "ipv6:[\(host)]:\(port)" : "ipv4:\(host):\(port)"
    }

    private func readCertificate() -> Certificate? {
        // Nil without TLS. A resumed session has no chain, but the certificate; the service checks
        // either again for each call.
        let pipeline = self.channel.pipeline.syncOperations
        let chain = try? pipeline.nioSSL_peerValidatedCertificateChain()
        guard let leaf = chain?.leaf ?? (try? pipeline.nioSSL_peerCertificate()) else { return nil }
        return (try? leaf.toDERBytes()).flatMap { try? Certificate(derEncoded: $0) }
    }
}
