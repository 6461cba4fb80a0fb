// The URL of a receiver, taken apart once: what the guard checks is what the client connects to.
internal import SinkKit

/// An `https` URL without credentials; `http` only for a host that is loopback by its name.
package struct WebhookURL: Sendable, Equatable {
    /// Whether it begins with `https`.
    package let isSecure: Bool
    /// The host in lower case, without an IPv6 address's brackets.
    package let host: String
    /// The port; nil for the scheme's own.
    package let port: Int?
    /// The path and the query.
    package let target: String

    /// Why a text is not taken. It never quotes the text, whose path may hold a token.
    package struct Refusal: Error, Equatable, CustomStringConvertible {
        /// The rule, after the words "has to".
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// The most that a URL may have: longer ones are refused by many servers.
    package static let maxBytes = 2048

    /// Takes a URL apart.
    ///
    /// - Throws: `Refusal` with the rule that it breaks.
    package init(_ text: String) throws(Refusal) {
        guard (1...Self.maxBytes).contains(text.utf8.count) else {
            throw Refusal("have 1 to \(Self.maxBytes) bytes")
        }
        guard Self.isURIText(text) else {
            throw Refusal("be printable ASCII, with all else percent-encoded")
        }
        let secure = Self.rest(of: text, after: "https://")
        guard let rest = secure ?? Self.rest(of: text, after: "http://") else {
            throw Refusal("begin with https://")
        }
        self.isSecure = secure != nil
        let authority = rest.prefix { !"/?#".contains($0) }
        let target = rest[authority.endIndex...]
        guard !authority.contains("@") else {
            throw Refusal("have no user name and no password: bodies are signed with a secret")
        }
        guard !target.contains("#") else { throw Refusal("have no fragment (#)") }
        (self.host, self.port) = try Self.hostAndPort(String(authority))
        self.target = target.hasPrefix("/") ? String(target) : "/" + target
        guard self.isSecure || self.isLoopbackByName else {
            throw Refusal("begin with https://, unless its host is localhost, 127.x.x.x or [::1]")
        }
    }

    /// The URL in the one form in which it is requested.
    package var text: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        let port = self.port.map { ":\($0)" } ?? ""
        return "\(self.isSecure ? "https" : "http")://\(host)\(port)\(self.target)"
    }

    /// The port to connect to.
    package var effectivePort: Int { self.port ?? (self.isSecure ? 443 : 80) }

    private var isLoopbackByName: Bool {
        if self.host == "localhost" { return true }
        guard let address = NetworkAddress(self.host) else { return false }
        return address.isLoopback
    }

    private static func rest(of text: String, after scheme: String) -> Substring? {
        text.lowercased().hasPrefix(scheme) ? text.dropFirst(scheme.count) : nil
    }

    private static func hostAndPort(_ authority: String) throws(Refusal) -> (String, Int?) {
        var host = authority.lowercased()
        var port: Int?
        let end = host.lastIndex(of: "]") ?? host.startIndex
        if let colon = host[end...].lastIndex(of: ":") {
            let digits = host[host.index(after: colon)...]
            guard let number = Int(digits), (1...65_535).contains(number),
                digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { throw Refusal("have a port from 1 to 65535") }
            port = number
            host = String(host[..<colon])
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard let address = NetworkAddress(host), !address.isIPv4 else {
                throw Refusal("have an IPv6 address in brackets")
            }
            return (address.text, port)
        }
        guard HostName.isValid(host) else { throw Refusal("have a host name or an address") }
        return (host, port)
    }

    /// Whether a text has only characters that may stand in a URI.
    package static func isURIText(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            (0x21...0x7e).contains(byte) && !#""<>\^`{|}"#.utf8.contains(byte)
        }
    }
}
