package import Logging
internal import Synchronization

/// Why the server closed or refused a connection.
package enum ConnectionEnd: String, CaseIterable, Sendable {
    /// The number of connections has reached `connections.max`.
    case tooMany = "too many connections"
    /// The address has as many as `connections.max_per_address` allows.
    case tooManyOfAddress = "too many connections of one address"
    /// The address opens connections faster than `connections.new_per_second`.
    case tooManyNew = "too many new connections of one address"
    /// TLS handshake, preface and SETTINGS took too long.
    case handshake = "no handshake in time"
    /// The TLS handshake failed: no TLS at all, no common version, or a refused certificate.
    case tls = "the TLS handshake failed"
    /// The peer sent more PINGs than allowed.
    case pings = "too many pings"
    /// It had no open stream for too long.
    case idle = "no stream for too long"
    /// It reached its maximum age. The server sends GOAWAY, and its streams finish.
    case age = "as old as it may get"
    /// The server sent GOAWAY, or would end the connection with its answer, and it did not end in
    /// time.
    case unanswered = "no end in time"
    /// The peer of the HTTP port did not read an answer in time.
    case unread = "an answer not read in time"

    /// The name in metrics.
    package var name: String {
        switch self {
        case .tooMany: "too_many"
        case .tooManyOfAddress: "too_many_of_address"
        case .tooManyNew: "too_many_new"
        case .handshake: "handshake"
        case .tls: "tls"
        case .pings: "pings"
        case .idle: "idle"
        case .age: "age"
        case .unanswered: "unanswered"
        case .unread: "unread"
        }
    }
}

/// Counts and logs the connections that the server closes or refuses.
package final class ConnectionEnds: Sendable {
    private let logger: Logger
    private let onEnd: @Sendable (ConnectionEnd) -> Void
    private let state = Mutex(State())

    /// Logged at debug level: any client can cause these at any rate, or they are no fault.
    private static let quiet: Set<ConnectionEnd> = [.age, .idle, .tls]

    private struct State {
        var counts: [ConnectionEnd: Int] = [:]
        var lastLogged: [ConnectionEnd: ContinuousClock.Instant] = [:]
    }

    /// - Parameter onEnd: called once per closed or refused connection.
    package init(logger: Logger, onEnd: @escaping @Sendable (ConnectionEnd) -> Void = { _ in }) {
        self.logger = logger
        self.onEnd = onEnd
    }

    subscript(_ end: ConnectionEnd) -> Int { self.state.withLock { $0.counts[end, default: 0] } }

    /// Counts a connection. Logs at most one record per second and reason.
    package func count(_ end: ConnectionEnd) {
        self.onEnd(end)
        let now = ContinuousClock.now
        let logged: Int? = self.state.withLock { state in
            state.counts[end, default: 0] += 1
            if let last = state.lastLogged[end], last.duration(to: now) < .seconds(1) { return nil }
            state.lastLogged[end] = now
            return state.counts[end]
        }
        guard let logged else { return }
        self.logger.log(
            level: Self.quiet.contains(end) ? .debug : .notice, "connection ended",
            metadata: ["reason": "\(end.rawValue)", "count": .stringConvertible(logged)])
    }
}
