package import ConfigurationKeys
internal import Foundation
package import SinkKit

/// The servers of one tenant's Campaign.
package struct CampaignServers: Sendable, Equatable {
    /// Campaign Standard's server, such as `https://example.campaign.adobe.com`; nil for none.
    package var standard: String?
    /// Campaign Classic's tracking server; nil for none.
    package var classic: String?

    /// Creates the servers of a tenant.
    package init(standard: String? = nil, classic: String? = nil) {
        self.standard = standard
        self.classic = classic
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

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" { return true }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let address = isBracketed ? String(host.dropFirst().dropLast()) : host
        return NetworkAddress(address)?.isLoopback == true
    }
}

/// Settings of the campaign sink. The key `campaign.servers` has a list, which the server's
/// configuration reads.
package struct CampaignConfiguration: KeyedConfiguration, Equatable {
    /// Servers by the tenant's name.
    package var servers: [String: CampaignServers] = [:]
    /// The path of a PEM file with the accepted CAs; empty for the system's.
    package var tlsRoots = ""
    /// The path of every request.
    package var path = "/r/"
    /// How long a request to Campaign Standard may take.
    package var standardTimeout = Duration.seconds(5)
    /// How long a request to Campaign Classic may take.
    package var classicTimeout = Duration.seconds(30)
    /// The maximum number of requests in flight.
    package var maxInFlight = 32
    /// The longest Retry-After that is honoured; a longer one is cut to it.
    package var maxRetryAfter = Duration.seconds(300)

    /// Creates the default settings.
    package init() {}

    /// The keys `campaign.*`.
    package static let keys: [Key] = [
        .init(
            "campaign.servers", of: \Self.servers, .text(""),
            "each tenant's servers: a list with tenant, standard (Campaign Standard's server, such "
                + "as 'https://example.campaign.adobe.com') and classic (Campaign Classic's "
                + "tracking server), or one of the two; https, or http on loopback", unit: "list"),
        .text(
            "campaign.path", \.path, "path of every request to Campaign", unit: "path",
            problem: Self.pathProblem),
        .text(
            "campaign.tls.roots", \.tlsRoots,
            "authorities of the servers' certificates; a file that was replaced needs a restart",
            unit: "PEM file"),
        .duration(
            "campaign.standard_timeout_seconds", \.standardTimeout, 1...300,
            "seconds that a request to Campaign Standard may take"),
        .duration(
            "campaign.classic_timeout_seconds", \.classicTimeout, 1...300,
            "seconds that a request to Campaign Classic may take"),
        .number(
            "campaign.max_in_flight", \.maxInFlight, 1...1024,
            "maximum number of requests in flight, and of hits in a batch",
            unit: "requests"),
        .duration(
            "campaign.max_retry_after_seconds", \.maxRetryAfter, 0...3600,
            "longest Retry-After that is honoured; a longer one is cut to it"),
    ]
    private static func pathProblem(_ path: String) -> String? {
        let isPath = path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
        if isPath, path.hasPrefix("/") { return nil }
        return "has to begin with / and to have letters, digits, -, ., _ and /"
    }
}

extension CampaignConfiguration: SinkConfiguration {
    /// Refuses to have no server at all.
    package func check(
        _ problems: inout ConfigurationProblems<Self>, of sink: SinkInConfiguration
    ) {
        if !self.servers.isEmpty { return }
        problems.refuse(
            \.servers, "the sink \(sink.name) needs one: else all its hits become dead letters")
    }
}
