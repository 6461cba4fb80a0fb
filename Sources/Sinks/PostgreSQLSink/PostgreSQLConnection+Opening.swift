#if PostgreSQL
// How a connection is made: one host after the other, each within its own time.
internal import CLibpq
internal import Foundation
internal import Glibc
internal import SinkKit

extension PostgreSQLConnection {
    /// How much longer than the server's own limit an answer may take.
    private static let margin = Duration.seconds(5)

    /// Connects to the first host that is there and fit.
    ///
    /// - Throws: `PostgreSQLError` with what each host said.
    static func open(
        _ configuration: PostgreSQLConfiguration, _ url: PostgreSQLURL, _ delivery: DeliveryDeadline
    ) throws(PostgreSQLError) -> PostgreSQLConnection {
        var failures: [PostgreSQLError] = []
        for host in url.hosts {
            do throws(PostgreSQLError) {
                return try Self.open(configuration, url, host, delivery)
            } catch {
                failures.append(error)
                if delivery.hasPassed { break }
            }
        }
        if failures.count == 1 { throw failures[0] }
        throw PostgreSQLError(failures.map(\.description).joined(separator: "; "))
    }

    /// Connects to one host.
    ///
    /// - Throws: `PostgreSQLError`.
    private static func open(
        _ configuration: PostgreSQLConfiguration, _ url: PostgreSQLURL,
        _ host: PostgreSQLURL.Host, _ delivery: DeliveryDeadline
    ) throws(PostgreSQLError) -> PostgreSQLConnection {
        let parameters = try Self.parameters(configuration, url, host)
        var names = parameters.map { UnsafePointer(strdup($0.name)) } + [nil]
        var values = parameters.map { UnsafePointer(strdup($0.value)) } + [nil]
        defer { for text in names + values { free(UnsafeMutablePointer(mutating: text)) } }
        guard let connection = PQconnectStartParams(&names, &values, 0) else {
            throw PostgreSQLError("libpq has no memory for a connection")
        }
        do throws(PostgreSQLError) {
            // Otherwise the text would not tell the server's code.
            PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
            try Self.finishConnecting(connection, configuration.connectTimeout, host, delivery)
        } catch {
            PQfinish(connection)
            throw error
        }
        return PostgreSQLConnection(
            connection, delivery, timeout: configuration.statementTimeout + Self.margin)
    }

    private static func finishConnecting(
        _ connection: OpaquePointer, _ timeout: Duration, _ host: PostgreSQLURL.Host,
        _ delivery: DeliveryDeadline
    ) throws(PostgreSQLError) {
        let deadline = ContinuousClock.now + timeout
        var state = PGRES_POLLING_WRITING
        if PQstatus(connection) == CONNECTION_BAD { state = PGRES_POLLING_FAILED }
        while true {
            switch state {
            case PGRES_POLLING_OK: return
            case PGRES_POLLING_READING, PGRES_POLLING_WRITING:
                let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
                try Self.wait(PQsocket(connection), events, deadline, delivery) {
                    PostgreSQLError(
                        "no answer within \(timeout.seconds) s when connecting to "
                            + "\(host.name) port \(host.port)")
                }
            default:
                throw PostgreSQLError(reported: String(cString: PQerrorMessage(connection)))
            }
            state = PQconnectPoll(connection)
        }
    }

    /// What libpq is told. What is empty here, it takes from variables such as PGSSLCERT; so the
    /// password without a file is PGPASSWORD, or that of ~/.pgpass.
    private static func parameters(
        _ configuration: PostgreSQLConfiguration, _ url: PostgreSQLURL,
        _ host: PostgreSQLURL.Host
    ) throws(PostgreSQLError) -> [(name: String, value: String)] {
        var parameters = [
            ("host", host.name), ("port", String(host.port)), ("dbname", url.database),
            ("user", url.user), ("application_name", "sightline"), ("client_encoding", "UTF8"),
            ("gssencmode", "disable"),
            ("target_session_attrs", configuration.target.rawValue),
            ("tcp_user_timeout", configuration.tcpUserTimeout.milliseconds),
            ("keepalives", "1"), ("keepalives_idle", configuration.keepAlive.seconds),
            // No count: tcp_user_timeout is what ends a connection whose probes are not answered.
            ("keepalives_interval", configuration.keepAlive.seconds),
            ("sslmode", configuration.tlsMode.rawValue),
            ("sslrootcert", Self.roots(configuration)),
            ("sslcert", configuration.tlsCertificate), ("sslkey", configuration.tlsKey),
        ]
        if !configuration.passwordFile.isEmpty {
            parameters.append(("password", try Self.password(configuration.passwordFile)))
        }
        return parameters
    }

    private static func password(_ path: String) throws(PostgreSQLError) -> String {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw PostgreSQLError("postgresql.password_file is \(path), which cannot be read")
        }
        let password = text.trimmingCharacters(in: .newlines)
        guard !password.isEmpty, !password.contains(where: \.isNewline) else {
            throw PostgreSQLError(
                "postgresql.password_file is \(path), which does not have the password in one line"
            )
        }
        return password
    }

    /// The system's authorities, on Debian and on Fedora: libpq 15 does not know where they are.
    private static let systemRoots = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    ]

    private static func roots(_ configuration: PostgreSQLConfiguration) -> String {
        if !configuration.tlsRoots.isEmpty { return configuration.tlsRoots }
        guard configuration.tlsMode == .verifyCA || configuration.tlsMode == .verifyFull else {
            return ""
        }
        return Self.systemRoots.first(where: FileManager.default.isReadableFile) ?? ""
    }
}

extension Duration {
    /// The whole seconds, as text.
    var seconds: String { String(self.components.seconds) }

    /// The whole milliseconds, as text.
    var milliseconds: String { String(Int(self / .milliseconds(1))) }
}
#endif
