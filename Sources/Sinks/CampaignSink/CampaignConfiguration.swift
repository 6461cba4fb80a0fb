package import ConfigurationKeys

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
}

/// Settings of the campaign sink. The key `campaign.servers` is a list, which the server's
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

    /// The keys `campaign.*` that hold one value.
    package static let keys: [Key] = [
        .text("campaign.path", \.path, "path of every request to Campaign", unit: "path"),
        .text(
            "campaign.tls.roots", \.tlsRoots, "authorities of the servers' certificates",
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
}
