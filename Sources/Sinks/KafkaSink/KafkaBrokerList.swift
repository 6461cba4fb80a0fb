/// The brokers of a configuration: `host:port` each, with commas between them.
package enum KafkaBrokerList {
    /// The rule for a list, for error messages.
    package static let rule =
        "has to be HOST:PORT, or several with commas between them, as in kafka-1:9092,kafka-2:9092"

    /// The entries without the spaces around them.
    package static func brokers(of text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { broker in
            String(broker.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// The hosts of a list, without the brackets of IPv6 addresses, and their ports.
    package static func hosts(of text: String) -> [(host: String, port: Int)] {
        Self.brokers(of: text).compactMap(Self.parts)
    }

    /// Whether every entry has a host and a port.
    package static func isValid(_ text: String) -> Bool {
        Self.brokers(of: text).allSatisfy { broker in
            guard let (host, port) = Self.parts(of: broker), (1...65535).contains(port)
            else { return false }
            return !host.isEmpty
                && host.utf8.allSatisfy { byte in
                    (48...57).contains(byte) || (65...90).contains(byte & 0xdf) || byte == 45
                        || byte == 46 || byte == 95 || byte == 58
                }
        }
    }

    /// Whether every broker is on this machine.
    package static func isLoopback(_ text: String) -> Bool {
        Self.brokers(of: text).allSatisfy { broker in
            let host = Self.parts(of: broker)?.host ?? ""
            return host == "localhost" || host.hasPrefix("127.") || host == "::1"
        }
    }

    /// A host without the brackets of an IPv6 address, and a port.
    private static func parts(of broker: String) -> (host: String, port: Int)? {
        guard let colon = broker.lastIndex(of: ":"), let port = Int(broker[colon...].dropFirst())
        else { return nil }
        let host = broker[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            return (String(host.dropFirst().dropLast()), port)
        }
        return host.contains(":") ? nil : (String(host), port)
    }
}
