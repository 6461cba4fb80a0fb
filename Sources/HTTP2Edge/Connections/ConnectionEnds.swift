// Which connections the server has ended itself, and why.
package import Logging
internal import Synchronization

/// Why the server ended a connection, or did not take it.
package enum ConnectionEnd: String, CaseIterable, Sendable {
    /// There are as many as `connections.max` already.
    case tooMany = "too many connections"
    /// There are as many of its address as `connections.max_per_address` already.
    case tooManyOfAddress = "too many connections of one address"
    /// New ones of its address come faster than `connections.new_per_second`.
    case tooManyNew = "too many new connections of one address"
    /// Preface and SETTINGS, or the TLS handshake before them, took too long.
    case handshake = "no handshake in time"
    /// More PINGs than the peer may send.
    case pings = "too many pings"
    /// It has had no stream for too long.
    case idle = "no stream for too long"
    /// It is as old as it may get; its streams are told.
    case age = "as old as it may get"
    /// The server began to end it, and the peer did not let it end in time.
    case unanswered = "no end in time"

    /// The name in metrics.
    package var name: String {
        switch self {
        case .tooMany: "too_many"
        case .tooManyOfAddress: "too_many_of_address"
        case .tooManyNew: "too_many_new"
        case .handshake: "handshake"
        case .pings: "pings"
        case .idle: "idle"
        case .age: "age"
        case .unanswered: "unanswered"
        }
    }
}

/// Counts of the connections that the server has ended.
package final class ConnectionEnds: Sendable {
    private let logger: Logger
    private let onEnd: @Sendable (ConnectionEnd) -> Void
    private let state = Mutex(State())

    private struct State {
        var counts: [ConnectionEnd: Int] = [:]
        var lastLogged: [ConnectionEnd: ContinuousClock.Instant] = [:]
    }

    /// - Parameter onEnd: called for each connection that the server has ended.
    package init(logger: Logger, onEnd: @escaping @Sendable (ConnectionEnd) -> Void = { _ in }) {
        self.logger = logger
        self.onEnd = onEnd
    }

    subscript(_ end: ConnectionEnd) -> Int { self.state.withLock { $0.counts[end, default: 0] } }

    /// Counts one. Logs at most one record a second for each reason, however many connections end.
    func count(_ end: ConnectionEnd) {
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
            level: end == .age || end == .idle ? .debug : .notice, "connection ended",
            metadata: ["reason": "\(end.rawValue)", "count": "\(logged)"])
    }
}
