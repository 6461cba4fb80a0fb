/// An IP address and a port; port 0 picks a free one.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
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
