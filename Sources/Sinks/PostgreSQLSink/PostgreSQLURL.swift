// The URL of a database, taken apart without libpq: builds without the sink check it too.
internal import Foundation
internal import SinkKit

/// `postgresql://USER@HOST[:PORT],…/DATABASE`, without a password and parameters.
package struct PostgreSQLURL: Sendable, Equatable {
    /// Who connects.
    package let user: String
    /// Where, in the order in which they are tried.
    package let hosts: [Host]
    /// To which database.
    package let database: String

    /// One server.
    package struct Host: Sendable, Equatable {
        /// A name, an address, or the directory of a Unix socket.
        package let name: String
        /// Its port.
        package let port: Int
    }

    /// Why a text is not taken. It never quotes the text, which may hold a password.
    package struct Refusal: Error, Equatable, CustomStringConvertible {
        /// The rule, after the words "has to".
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// The most that a URL may have.
    package static let maxBytes = 2048
    private static let standardPort = 5432

    /// Takes a URL apart.
    ///
    /// - Throws: `Refusal` with the rule that it breaks.
    package init(_ text: String) throws(Refusal) {
        guard text.utf8.count <= Self.maxBytes else {
            throw Refusal("have at most \(Self.maxBytes) bytes")
        }
        guard let scheme = ["postgresql://", "postgres://"].first(where: text.hasPrefix) else {
            throw Refusal("begin with postgresql://")
        }
        let rest = text.dropFirst(scheme.count)
        guard !rest.contains(where: { "?#".contains($0) }) else {
            throw Refusal("have no parameters: each has a key of its own, as postgresql.tls.mode")
        }
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let authority = parts[0]
        guard let at = authority.lastIndex(of: "@"), at != authority.startIndex else {
            throw Refusal("name a user, as in postgresql://USER@HOST/DATABASE")
        }
        guard !authority[..<at].contains(":") else {
            throw Refusal("have no password: it stands in postgresql.password_file")
        }
        self.user = try Self.decoded(authority[..<at])
        guard parts.count == 2, !parts[1].isEmpty, !parts[1].contains("/") else {
            throw Refusal("name a database, as in postgresql://USER@HOST/DATABASE")
        }
        self.database = try Self.decoded(parts[1])
        var hosts: [Host] = []
        let list = authority[authority.index(after: at)...]
        for host in list.split(separator: ",", omittingEmptySubsequences: false) {
            hosts.append(try Self.host(host))
        }
        self.hosts = hosts
    }

    private static func host(_ text: Substring) throws(Refusal) -> Host {
        var name = text
        var port = Self.standardPort
        let end = text.lastIndex(of: "]") ?? text.startIndex
        if let colon = text[end...].lastIndex(of: ":") {
            let digits = text[text.index(after: colon)...]
            guard let number = Int(digits), (1...65_535).contains(number),
                digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { throw Refusal("have ports from 1 to 65535") }
            (name, port) = (text[..<colon], number)
        }
        if name.hasPrefix("["), name.hasSuffix("]") {
            guard let address = NetworkAddress(String(name.dropFirst().dropLast())),
                !address.isIPv4
            else { throw Refusal("have an IPv6 address in brackets") }
            return Host(name: address.text, port: port)
        }
        let decoded = try Self.decoded(name)
        // A socket's directory is percent-encoded, as in %2Frun%2Fpostgresql.
        guard decoded.hasPrefix("/") || HostName.isValid(decoded) else {
            throw Refusal("have hosts that are names or addresses, with commas between them")
        }
        return Host(name: decoded, port: port)
    }

    /// A part with its percent-encoding taken away; not empty.
    private static func decoded(_ text: Substring) throws(Refusal) -> String {
        guard let part = text.removingPercentEncoding, !part.isEmpty,
            !part.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw Refusal("have parts that are percent-encoded and not empty") }
        return part
    }
}
