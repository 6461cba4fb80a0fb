package import ConfigurationKeys
package import Credentials
internal import Foundation
internal import NIOCore
package import TrackingRules
package import WireFormat

/// Who sends postbacks to one host name: they have no credentials, so the name alone tells it.
package struct PostbackHost: Sendable, Equatable {
    /// The tenant that they are recorded for.
    package var tenant: Tenant
    /// The app's bundle id or package name in their events; empty for none.
    package var app: String
    /// The product whose SDK sends them: Campaign Standard or Classic.
    package var product: Product
    /// Where everything else on the host goes; nil: to `postback.upstream`.
    package var upstream: String?

    /// Creates a row.
    package init(tenant: Tenant, app: String = "", product: Product, upstream: String? = nil) {
        self.tenant = tenant
        self.app = app
        self.product = product
        self.upstream = upstream
    }
}

/// Settings of the door for postbacks. The key `postback.hosts` has a list, which the server's
/// configuration reads.
package struct PostbackConfiguration: KeyedConfiguration, Equatable {
    /// The rows by their host names, in lower case. Without one the door is shut.
    package var hosts: [ExactText: PostbackHost] = [:]
    /// Postbacks per second of one address; 0 for no limit.
    package var perAddressPerSecond = 100
    /// The server that answers everything else; empty for none.
    package var upstream = ""
    /// Whether it gets the postbacks too, and its answer is the app's.
    package var isMirroring = false
    /// The path of a PEM file with the authorities of its certificate; empty for the system's.
    package var upstreamRoots = ""
    /// How long its whole answer may take. The SDK waits 5 s, and drops a hit that timed out.
    package var upstreamTimeout = Duration.seconds(4)
    /// Requests to it that may be under way.
    package var maxUpstreamRequests = 128
    /// The bytes of the largest answer that is passed on.
    package var maxUpstreamBytes = 1 << 20

    /// No host: the door is shut.
    package init() {}

    /// The keys `postback.*`.
    package static let keys: [Key] = [
        .init(
            "postback.hosts", of: \Self.hosts, .text(""),
            "host names on which postbacks of Campaign's SDKs are recorded, none by default: a "
                + "list with host, tenant, product (standard or classic), and where wanted app "
                + "and upstream (instead of postback.upstream). Nobody proves who sends them",
            unit: "list"),
        .number(
            "postback.per_address_per_second", \.perAddressPerSecond, 0...1_000_000,
            "postbacks per second of one address (IPv4, or the /64 of IPv6); 0 for no limit, as "
                + "behind a proxy, whose address all of them have", unit: "postbacks"),
        .text(
            "postback.upstream", \.upstream,
            "Campaign's server, which answers everything else on those hosts; https, or http on "
                + "loopback", unit: "URL", problem: Self.urlProblem),
        .flag(
            "postback.mirror", \.isMirroring,
            "whether postback.upstream gets the postbacks too: then its answer is the app's"),
        .text(
            "postback.tls.roots", \.upstreamRoots,
            "authorities of the certificate of postback.upstream; a file that was replaced needs "
                + "a restart", unit: "PEM file"),
        .duration(
            "postback.upstream_timeout_seconds", \.upstreamTimeout, 1...60,
            "seconds that an answer of postback.upstream may take; the SDKs wait 5"),
        .number(
            "postback.upstream_requests", \.maxUpstreamRequests, 1...10_000,
            "requests to postback.upstream that may be under way, of which each of N hosts may "
                + "have the N-th part in any case, and of that each of M peers' addresses the "
                + "M-th part; further ones get 503",
            unit: "requests"),
        .number(
            "postback.upstream_bytes", \.maxUpstreamBytes, (1 << 10)...(64 << 20),
            "bytes of an answer of postback.upstream that is passed on; each request under way "
                + "may hold so many", unit: "bytes"),
    ]

    /// Where everything but postbacks on a host goes; nil: nowhere, it is not found.
    func upstream(of host: PostbackHost) -> String? {
        host.upstream ?? Self.url(self.upstream)
    }

    /// A server's URL without its path; nil for a text that is none: https and a host, or http to
    /// this machine, since the requests name people.
    package static func url(_ text: String) -> String? {
        guard let url = URLComponents(string: text, encodingInvalidCharacters: false),
            let host = url.host, !host.isEmpty, url.user == nil, url.password == nil,
            url.query == nil, url.fragment == nil, url.path.isEmpty || url.path == "/",
            url.port.map((1...65535).contains) ?? true,
            url.scheme == "https" || (url.scheme == "http" && Self.isLoopback(host))
        else { return nil }
        return url.path.isEmpty ? text : String(text.dropLast())
    }

    /// What such a URL has to be, after the words "has to be".
    package static let urlRule =
        "https:// and a host, with a port where it is not 443, and without a path; http is taken "
        + "on loopback alone, since the requests name people"

    private static func urlProblem(_ text: String) -> String? {
        text.isEmpty || Self.url(text) != nil ? nil : "has to be " + Self.urlRule
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" { return true }
        let address = host.filter { $0 != "[" && $0 != "]" }
        guard let address = try? SocketAddress(ipAddress: address, port: 0) else { return false }
        return address.ipAddress == "::1" || address.ipAddress?.hasPrefix("127.") == true
    }

    /// The longest name that a host has (RFC 1035).
    private static let maxHostBytes = 253

    /// A host name as `DoorRequest.host` has it; nil for a text that is none.
    package static func hostName(_ text: String) -> String? {
        let name = text.lowercased()
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isName && (1...Self.maxHostBytes).contains(name.utf8.count) ? name : nil
    }

    /// Refuses what could not work: a mirror without a server, and a server that is this one.
    package func check(_ problems: inout ConfigurationProblems<Self>) {
        let upstreams = self.hosts.values.compactMap { self.upstream(of: $0) }
        if self.isMirroring, upstreams.count < self.hosts.count || self.hosts.isEmpty {
            problems.refuse(
                \.isMirroring,
                "needs postback.hosts, and postback.upstream or an upstream in each of them")
        }
        for upstream in upstreams + [self.upstream] {
            guard let host = URLComponents(string: upstream)?.host?.lowercased(),
                self.hosts[ExactText(host)] != nil
            else { continue }
            problems.refuse(
                \.hosts,
                "\(host) is its own upstream: requests would go round in a circle; name the "
                    + "server's own address there, as Adobe gave it")
            return
        }
    }
}
