// Where the grpc sink connects, taken apart once for the check of the configuration and the sink.
internal import SinkKit

/// A host and a port.
package struct GRPCTarget: Sendable, Equatable {
    /// A host name in lower case, or an address without brackets.
    package let host: String
    /// 1 to 65535.
    package let port: Int

    /// Parses `host:port` or `[IPv6]:port`; nil for anything else.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard let port = Int(digits), (1...65_535).contains(port),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        let host = text[..<colon].lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") {
            let inner = String(host.dropFirst().dropLast())
            guard let address = NetworkAddress(inner), !address.isIPv4 else { return nil }
            self.host = address.text
        } else {
            guard HostName.isValid(host) else { return nil }
            self.host = host
        }
        self.port = port
    }

    /// What kind of host it is.
    package enum Kind: Equatable {
        case name
        case ipv4
        case ipv6
    }

    /// What kind of host it is.
    package var kind: Kind {
        guard let address = NetworkAddress(self.host) else { return .name }
        return address.isIPv4 ? .ipv4 : .ipv6
    }

    /// Whether it is this machine by its name.
    package var isLoopback: Bool {
        self.host == "localhost" || NetworkAddress(self.host)?.isLoopback == true
    }

    /// `host:port`, with brackets around an IPv6 address.
    package var text: String {
        self.kind == .ipv6 ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
    }
}
