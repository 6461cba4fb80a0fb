/// The settings `admin.*`: where the admin server listens, and its limits.
package struct AdminConfiguration: Sendable {
    /// Host and port; nil disables the admin server. Default 127.0.0.1:9464.
    package var address: Address? = Address(host: "127.0.0.1", port: 9464)
    /// Whether it may listen on addresses other than loopback, although it requires no credentials.
    /// Default false.
    package var allowInsecure = false
    /// Host names that requests may use, besides `localhost` and IP addresses.
    package var hostNames: [String] = []
    /// The maximum open connections; others wait to be accepted. Default 32.
    package var maxConnections = 32
    /// The maximum bytes of a request's header fields. Default 8 KiB.
    package var headerBytes = 8 << 10
    /// A connection is closed if no answer is completed for this long. Default 30 s.
    package var answerTimeout = Duration.seconds(30)
    /// The seconds of history on the page and in `stats.json`. Default 300.
    package var historySeconds = 300
    /// The number of deliveries with funnel counters. Default 1,000.
    package var maxDeliveries = 1000
    /// The number of distinct rejections that are remembered. Default 50.
    package var maxRejections = 50

    /// An IP address and a port; port 0 picks a free one.
    package struct Address: Sendable, Equatable, CustomStringConvertible {
        /// The IP address, without brackets.
        package var host: String
        /// The port, 0 to 65535.
        package var port: Int

        /// HOST:PORT, with brackets around an IPv6 address.
        package var description: String {
            self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
        }

        /// Creates an address.
        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// Creates the default settings.
    package init() {}
}
