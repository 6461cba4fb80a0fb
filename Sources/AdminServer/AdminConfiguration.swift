// The `admin.*` keys: where a person looks at the running server, and what that may cost.

/// Where the admin server listens, and its bounds.
package struct AdminConfiguration: Sendable {
    /// Host and port; nil where there is no admin server. Default 127.0.0.1:9464.
    package var address: Address? = Address(host: "127.0.0.1", port: 9464)
    /// Whether it may be open to the network: it asks for no credentials. Default false.
    package var allowInsecure = false
    /// Names by which browsers may ask for it, besides `localhost` and IP addresses.
    package var hostNames: [String] = []
    /// Connections that are open at once; more wait to be accepted. Default 32.
    package var maxConnections = 32
    /// Bytes of a request's header fields. Default 8 KiB.
    package var headerBytes = 8 << 10
    /// Within which time a connection has to have been given one more answer. Default 30 s.
    package var answerTimeout = Duration.seconds(30)
    /// Seconds of history that the page and `stats.json` show. Default 300.
    package var historySeconds = 300
    /// Deliveries whose funnels are counted at once. Default 1,000.
    package var maxDeliveries = 1000
    /// Kinds of rejections that are remembered. Default 50.
    package var maxRejections = 50

    /// An IP address and a port; 0 takes a free one.
    package struct Address: Sendable, Equatable, CustomStringConvertible {
        /// Without brackets.
        package var host: String
        /// 0 to 65535.
        package var port: Int

        /// HOST:PORT, with brackets around an IPv6 address.
        package var description: String {
            self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
        }

        /// An address of these parts.
        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// Every value at its default.
    package init() {}
}
