internal import AdminServer
internal import CoreMetrics
internal import HTTPDoor
internal import Telemetry

/// The metrics of a door of the HTTP port.
struct DoorMetrics: Sendable {
    private let requests: [String: Counter]
    private let receivedBytes: Counter
    private let sentBytes: Counter
    private let duration: Timer

    /// Creates the series of a door, at 0.
    init(of door: Door, in registry: MetricsRegistry) {
        self.requests = Dictionary(
            uniqueKeysWithValues: DoorTally.statusClasses.map { status in
                (status, registry.counter(.doorRequests, door.rawValue, status))
            })
        self.receivedBytes = registry.counter(.doorReceivedBytes, door.rawValue)
        self.sentBytes = registry.counter(.doorSentBytes, door.rawValue)
        self.duration = registry.timer(.doorDuration, door.rawValue)
    }

    /// Counts a request.
    func count(_ tally: DoorTally) {
        self.requests[tally.statusClass]?.increment()
        self.receivedBytes.increment(by: tally.receivedBytes)
        self.sentBytes.increment(by: tally.sentBytes)
        self.duration.recordNanoseconds(tally.nanoseconds)
    }
}
