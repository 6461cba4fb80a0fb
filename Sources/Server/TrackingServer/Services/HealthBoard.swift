internal import HTTPDoor
internal import Pacing
internal import ServerConfiguration
internal import SightlineProtos
internal import Synchronization
internal import WireFormat

/// The server's health and its watchers.
///
/// SERVING means that the server accepts events: the journal is open and has room. An unavailable
/// sink changes nothing until the journal is full.
final class HealthBoard: Sendable {
    typealias Status = Grpc_Health_V1_HealthCheckResponse.ServingStatus

    /// The services with a status; the empty name is the whole server.
    static let services = ["", "sightline.v1.TrackingService"]

    private let state: Mutex<State>
    private let maxWatchers: Int
    private let isTaking: @Sendable () -> Bool

    /// A port that has to listen before the server is ready.
    enum Port: String, Sendable {
        case grpc = "gRPC"
        case http = "HTTP"
    }

    private struct State {
        var awaitedPorts: [Port]
        var isDraining = false
        var lastID = 0
        var watchers: [Int: Watcher] = [:]
        /// The peers' shares of the watches, which need no credentials.
        var shares: TenantShares
    }

    private struct Watcher {
        let isOfKnownService: Bool
        let peer: [UInt8]
        let statuses: AsyncStream<Status>.Continuation
    }

    /// Creates a board without watchers.
    ///
    /// - Parameters:
    ///   - maxWatchers: the maximum number of open watches of a lone peer.
    ///   - ports: those that have to listen before the server is ready.
    ///   - isTaking: whether the journal accepts events now.
    init(
        maxWatchers: Int, ports: [Port] = [.grpc], isTaking: @escaping @Sendable () -> Bool
    ) {
        self.state = Mutex(
            State(awaitedPorts: ports, shares: TenantShares(bound: maxWatchers)))
        self.maxWatchers = maxWatchers
        self.isTaking = isTaking
    }

    /// Creates the board of a server, which is ready once each of its ports listens.
    convenience init(
        _ configuration: ServerConfiguration, isTaking: @escaping @Sendable () -> Bool
    ) {
        self.init(
            maxWatchers: configuration.maxHealthWatchers,
            ports: configuration.http.address == nil ? [.grpc] : [.grpc, .http],
            isTaking: isTaking)
    }

    /// The current status of a service; nil for an unknown service.
    func status(of service: String) -> Status? {
        Self.isKnown(service) ? self.status : nil
    }

    /// The current status of each service that has one.
    private var status: Status {
        let isDraining = self.state.withLock { $0.isDraining }
        return !isDraining && self.isTaking() ? .serving : .notServing
    }

    /// Whether a service has a status. A stranger names it: to compare Strings would cost the
    /// square of the marks in the name.
    private static func isKnown(_ service: String) -> Bool {
        Self.services.contains { $0.equals(service) }
    }

    /// Why the server is not ready, for people; empty if it is.
    var notReadyReasons: [String] {
        let (ports, isDraining) = self.state.withLock { ($0.awaitedPorts, $0.isDraining) }
        var reasons = ports.map { "the \($0.rawValue) port does not listen yet" }
        if isDraining { reasons.append("the server is draining") }
        if !self.isTaking() {
            reasons.append("the journal takes no events: it is full, or its disk failed")
        }
        return reasons
    }

    /// Records that a port is bound.
    func beginListening(_ port: Port = .grpc) {
        self.state.withLock { $0.awaitedPorts.removeAll { $0 == port } }
    }

    // MARK: Watching

    /// The statuses of a service: the current one, then one whenever it may have changed. Ends with
    /// the drain. Of N peers that watch, each may have the N-th part of the watches in any case.
    ///
    /// - Parameter peer: the key of the peer that watches.
    /// - Throws: `ServiceError.watchersExceeded` as a status.
    func watch(
        _ service: String, from peer: [UInt8] = []
    ) throws -> (id: Int, statuses: AsyncStream<Status>) {
        // A slow watcher only needs the newest status.
        let (statuses, continuation) = AsyncStream.makeStream(
            of: Status.self, bufferingPolicy: .bufferingNewest(1))
        let isKnown = Self.isKnown(service)
        continuation.yield(isKnown ? self.status : .serviceUnknown)
        let id: Int? = self.state.withLock { state in
            guard state.shares.take(1, for: peer) else { return nil }
            let watcher = Watcher(
                isOfKnownService: isKnown, peer: peer, statuses: continuation)
            state.lastID &+= 1
            state.watchers[state.lastID] = watcher
            if state.isDraining { Self.finish(watcher) }
            return state.lastID
        }
        if let id { return (id, statuses) }
        throw ServiceError.watchersExceeded(limit: self.maxWatchers).status
    }

    /// Removes a watcher.
    func endWatch(_ id: Int) {
        self.state.withLock { state in
            guard let watcher = state.watchers.removeValue(forKey: id) else { return }
            state.shares.giveBack(1, of: watcher.peer)
        }
    }

    /// Checks the journal once a second for the watchers, until cancelled.
    func run() async {
        // The sleep throws only if cancelled.
        while (try? await Task.sleep(for: .seconds(1))) != nil { self.updateWatchers() }
    }

    /// Sends the current status to all watchers.
    func updateWatchers() {
        let watchers = self.state.withLock { Array($0.watchers.values) }
        let status = self.status
        for watcher in watchers {
            watcher.statuses.yield(watcher.isOfKnownService ? status : .serviceUnknown)
        }
    }

    // MARK: Drain

    /// Sets NOT_SERVING. Returns when every watch has ended, or after half a second, since a
    /// watcher that does not read must not delay the drain.
    func beginDraining() async {
        self.state.withLock { state in
            state.isDraining = true
            for watcher in state.watchers.values { Self.finish(watcher) }
        }
        for _ in 0..<50 where self.state.withLock({ !$0.watchers.isEmpty }) {
            // Ends early if the drain is cancelled.
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    private static func finish(_ watcher: Watcher) {
        if watcher.isOfKnownService { watcher.statuses.yield(.notServing) }
        watcher.statuses.finish()
    }
}
