package import ConfigurationKeys
package import HTTP2Edge

/// The settings `http.*`: where the HTTP port listens, and its limits. What holds for connections
/// of the gRPC port besides (`connections.*`) holds here too, but for the keepalive.
package struct HTTPConfiguration: KeyedConfiguration {
    /// Host and port; nil for no HTTP port.
    package var address: ListenAddress?
    /// The origins whose pages may call from a browser; `*` for any.
    package var corsOrigins: [String] = []
    /// The maximum number of connections.
    package var maxConnections = 1000
    /// The maximum connections per address; for IPv6, per /64.
    package var maxPerAddress = 64
    /// The maximum open streams of a connection with HTTP/2.
    package var streamsPerConnection = 100
    /// The maximum bytes of the names and values of a request's header fields.
    package var headerBytes = 8 << 10
    /// How long a connection may take from accept to the first request's header fields, TLS
    /// included.
    package var headerTimeout = Duration.seconds(10)
    /// How long a request's body may take.
    package var bodyTimeout = Duration.seconds(30)
    /// How long a client may leave an answer unread.
    package var answerTimeout = Duration.seconds(30)
    /// How long a connection may be without a request.
    package var idleTimeout = Duration.seconds(60)

    /// The maximum bytes of a request's body, also once it is decompressed: as of a message of
    /// gRPC.
    package static let bodyBytes = MessageLimits.maxBytes
    /// The maximum number of header fields of a request. It has no key: browsers send some 30.
    package static let headerFields = 100

    /// Creates the default settings.
    package init() {}

    /// The limits on connections: those of the gRPC port, with the settings of this one.
    package func connections(_ connections: ConnectionConfiguration) -> ConnectionConfiguration {
        var connections = connections
        connections.maxCount = self.maxConnections
        connections.maxPerAddress = self.maxPerAddress
        connections.handshakeTimeout = self.headerTimeout
        connections.idleTimeout = self.idleTimeout
        return connections
    }

    /// The keys `http.*`.
    package static let keys: [Key] = [
        .init(
            "http.listen", of: \Self.address, .text("off"),
            "address and port of the HTTP server for clients without gRPC, or off; with the TLS, "
                + "the credentials and connections.* of the gRPC server, but for "
                + "connections.keepalive_* and what http.* bounds itself", unit: "address"),
        .init(
            "http.cors_origins", of: \Self.corsOrigins, .text(""),
            "origins whose pages may call from a browser, as in https://app.example.com, or *",
            unit: "origins"
        ) { list, http in
            http.corsOrigins = Self.words(list).map(String.init)
        } problems: { list in
            guard let wrong = Self.words(list).first(where: { !Self.isOrigin($0) }) else {
                return []
            }
            return [
                "each of its parts has to be * or an origin, as in https://app.example.com or "
                    + "http://localhost:3000, without a path: \"\(wrong)\" is not"
            ]
        },
        .number(
            "http.max_connections", \.maxConnections, 1...1_000_000,
            "connections of the HTTP server", unit: "connections"),
        .number(
            "http.max_per_address", \.maxPerAddress, 1...1_000_000,
            "connections of one IPv4 address, or of one IPv6 /64, besides those of "
                + "connections.trusted_proxies", unit: "connections"),
        .number(
            "http.streams_per_connection", \.streamsPerConnection, 1...10_000,
            "requests that a connection with HTTP/2 may have open; with HTTP/1.1 it has one",
            unit: "streams"),
        .number(
            "http.header_bytes", \.headerBytes, 256...(14 << 10),
            "bytes of the names and values of a request's header fields"),
        .duration(
            "http.header_seconds", \.headerTimeout, 1...600,
            "seconds from accept until the first request's header fields are whole, TLS included"),
        .duration(
            "http.body_seconds", \.bodyTimeout, 1...3600,
            "seconds that a request's body may take"),
        .duration(
            "http.answer_seconds", \.answerTimeout, 1...3600,
            "seconds for which a client may leave an answer unread before its connection ends; "
                + "with HTTP/1.1 connections.user_timeout_seconds ends it too, if that is less"),
        .duration(
            "http.idle_seconds", \.idleTimeout, 1...86_400,
            "seconds that a connection may take until the next request's header fields are whole"),
    ]

    /// The words of a list, apart by commas or spaces.
    private static func words(_ list: String) -> [Substring] { list.split { ", ".contains($0) } }

    /// Whether a text is `*`, or a scheme, a host and maybe a port (RFC 6454, section 6.2).
    private static func isOrigin(_ text: Substring) -> Bool {
        if text == "*" { return true }
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else {
            return false
        }
        let host = text.dropFirst(scheme.count)
        return !host.isEmpty
            && host.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["),
                    UInt8(ascii: "]"):
                    true
                default: false
                }
            }
    }
}
