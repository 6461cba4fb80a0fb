// What is known of the server's health: one value that drain, journal and health service share.
internal import SightlineProtos
internal import Synchronization

/// The server's health, and who watches it.
///
/// SERVING means that events are taken: the journal is there and has room. A sink that is down
/// changes nothing, since an ingest node takes events without it until the journal is full.
final class HealthBoard: Sendable {
    typealias Status = Grpc_Health_V1_HealthCheckResponse.ServingStatus

    /// The services that have a health; the empty name is the server as a whole.
    static let services = ["", "sightline.v1.TrackingService"]

    private let state: Mutex<State>
    private let maxWatchers: Int
    private let isTaking: @Sendable () -> Bool

    private struct State {
        var isListening = false
        var isDraining = false
        var lastID = 0
        var watchers: [Int: Watcher] = [:]
    }

    private struct Watcher {
        let service: String
        let statuses: AsyncStream<Status>.Continuation
    }

    /// A board without watchers.
    ///
    /// - Parameters:
    ///   - maxWatchers: watches that may be open at once.
    ///   - isTaking: whether the journal takes events now.
    init(maxWatchers: Int, isTaking: @escaping @Sendable () -> Bool) {
        self.state = Mutex(State())
        self.maxWatchers = maxWatchers
        self.isTaking = isTaking
    }

    /// The status of a service now; nil where there is no such service.
    func status(of service: String) -> Status? {
        guard Self.services.contains(service) else { return nil }
        let isDraining = self.state.withLock { $0.isDraining }
        return !isDraining && self.isTaking() ? .serving : .notServing
    }

    /// What stands in the way of taking events, for a person; nothing where they are taken.
    var obstacles: [String] {
        let (isListening, isDraining) = self.state.withLock { ($0.isListening, $0.isDraining) }
        var obstacles: [String] = []
        if !isListening { obstacles.append("the gRPC port does not listen yet") }
        if isDraining { obstacles.append("the server is draining") }
        if !self.isTaking() {
            obstacles.append("the journal takes no events: it is full, or its disk failed")
        }
        return obstacles
    }

    /// The gRPC port listens from now on.
    func beginListening() { self.state.withLock { $0.isListening = true } }

    // MARK: Watching

    /// The statuses of a service: the one of now, and then again each time that it may have
    /// changed. Ends with the drain.
    ///
    /// - Throws: `ServiceError.watchersExceeded` as a status.
    func watch(_ service: String) throws -> (id: Int, statuses: AsyncStream<Status>) {
        // What a slow watcher has not read is replaced: only the newest status is of use.
        let (statuses, continuation) = AsyncStream.makeStream(
            of: Status.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield(self.status(of: service) ?? .serviceUnknown)
        let id: Int? = self.state.withLock { state in
            guard state.watchers.count < self.maxWatchers else { return nil }
            let watcher = Watcher(service: service, statuses: continuation)
            state.lastID &+= 1
            state.watchers[state.lastID] = watcher
            if state.isDraining { Self.tellOfDrain(watcher) }
            return state.lastID
        }
        if let id { return (id, statuses) }
        throw ServiceError.watchersExceeded(limit: self.maxWatchers).status
    }

    /// Forgets a watcher that has been told all that it will be.
    func endWatch(_ id: Int) {
        self.state.withLock { _ = $0.watchers.removeValue(forKey: id) }
    }

    /// Looks at the journal once a second, for those that watch, until the task is cancelled.
    func run() async {
        // The sleep ends early with the task alone.
        while (try? await Task.sleep(for: .seconds(1))) != nil { self.tellWatchers() }
    }

    /// Tells all watchers how things are now.
    func tellWatchers() {
        let watchers = self.state.withLock { Array($0.watchers.values) }
        for watcher in watchers {
            watcher.statuses.yield(self.status(of: watcher.service) ?? .serviceUnknown)
        }
    }

    // MARK: Drain

    /// Says NOT_SERVING from now on. Returns when all watchers have been told so, or after half a
    /// second: one that does not read may not hold the drain.
    func beginDraining() async {
        self.state.withLock { state in
            state.isDraining = true
            for watcher in state.watchers.values { Self.tellOfDrain(watcher) }
        }
        for _ in 0..<50 where self.state.withLock({ !$0.watchers.isEmpty }) {
            // Ends early where the drain itself is cut short.
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    private static func tellOfDrain(_ watcher: Watcher) {
        if Self.services.contains(watcher.service) { watcher.statuses.yield(.notServing) }
        watcher.statuses.finish()
    }
}
