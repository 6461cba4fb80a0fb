internal import AdminServer
internal import CoreMetrics
internal import Delivery
internal import HTTP2Edge
internal import HTTPDoor
internal import Telemetry
internal import TrackingRules

/// The server's metrics. None is updated per event: requests are summed up first, and the requests
/// of a run share their clock readings.
final class ServerMetrics: Sendable {
    /// The registry of these metrics.
    let registry: MetricsRegistry

    /// Takes the traces of acks.
    let ackExemplars: ExemplarRecorder

    private let streams: Meter
    private let admissionDuration: Timer
    private let ackDuration: Timer
    private let commitDuration: Timer
    private let callDurations: [RequestMethod: Timer]
    private let requestEvents: Recorder
    private let journalGroups: Counter
    private let receivedBytes: Counter
    private let requests: [RequestMethod: [Counter]]
    private let verdicts: [(number: Int, counter: Counter)]
    private let violations: [(number: Int, counter: Counter)]
    private let hits: [(number: Int, counter: Counter)]
    private let refusals: [ServiceError.Reason: Counter]
    private let connectionEnds: [ConnectionEnd: Counter]
    private let doors: [Door: DoorMetrics]
    private let postbacks: [PostbackOutcome: Counter]
    private let postbackUpstream: [UpstreamOutcome: Counter]

    /// Creates the metrics; every series exists from the start, at 0.
    init(registry: MetricsRegistry = MetricsRegistry(MetricDescription.server)) {
        self.registry = registry
        self.streams = registry.meter(.streams)
        self.admissionDuration = registry.timer(.admissionDuration)
        self.ackDuration = registry.timer(.ackDuration)
        self.ackExemplars = registry.exemplars(.ackDuration)
        self.commitDuration = registry.timer(.commitDuration)
        self.callDurations = Dictionary(
            uniqueKeysWithValues: RequestMethod.allCases.filter { $0 != .streamEvents }.map {
                ($0, registry.timer(.callDuration, $0.rawValue))
            })
        self.requestEvents = registry.recorder(.requestEvents)
        self.journalGroups = registry.counter(.journalGroups)
        self.receivedBytes = registry.counter(.receivedBytes)
        self.requests = Dictionary(
            uniqueKeysWithValues: RequestMethod.allCases.map { method in
                let counters = RequestOutcome.allCases.map {
                    registry.counter(.requests, method.rawValue, $0.name)
                }
                return (method, counters)
            })
        self.verdicts = Verdict.allCases.filter { $0 != .rejected }.map {
            (Int($0.rawValue), registry.counter(.events, "\($0.name)", ""))
        }
        self.violations = Violation.Code.allCases.map {
            (Int($0.rawValue), registry.counter(.events, "\(Verdict.rejected.name)", "\($0.name)"))
        }
        self.hits = HitKind.allCases.map {
            (Int($0.rawValue), registry.counter(.hits, "\($0.name)"))
        }
        self.refusals = Dictionary(
            uniqueKeysWithValues: ServiceError.Reason.allCases.map {
                ($0, registry.counter(.refusals, $0.rawValue.lowercased()))
            })
        self.connectionEnds = Dictionary(
            uniqueKeysWithValues: ConnectionEnd.allCases.map {
                ($0, registry.counter(.connectionsEnded, $0.name))
            })
        self.doors = Dictionary(
            uniqueKeysWithValues: Door.allCases.map { ($0, DoorMetrics(of: $0, in: registry)) })
        self.postbacks = Dictionary(
            uniqueKeysWithValues: PostbackOutcome.allCases.map {
                ($0, registry.counter(.postbacks, $0.rawValue))
            })
        self.postbackUpstream = Dictionary(
            uniqueKeysWithValues: UpstreamOutcome.allCases.map {
                ($0, registry.counter(.postbackUpstream, $0.rawValue))
            })
        let droppedSeries = registry.meter(.droppedSeries)
        registry.onCollect { droppedSeries.set(registry.droppedSeries) }
        ProcessMetrics.install(in: registry)
    }

    /// The metrics of a sink.
    func sink(_ name: String) -> SinkMetrics {
        SinkMetrics(
            deliveredHits: self.registry.counter(.deliveredHits, name),
            retries: self.registry.counter(.sinkRetries, name),
            deadLetters: self.registry.counter(.deadLetters, name),
            missedHits: self.registry.counter(.missedHits, name),
            deliveryDuration: self.registry.timer(.deliveryDuration, name),
            deliveryHits: self.registry.recorder(.deliveryHits, name))
    }

    /// Counts a StreamEvents call that begins.
    func streamBegan() { self.streams.increment() }

    /// Counts a StreamEvents call that ends.
    func streamEnded() { self.streams.decrement() }

    /// Counts settled requests, and their events by verdict.
    func count(_ requests: [AdmittedRequest], of method: RequestMethod) {
        var counts = RequestCounts()
        for request in requests {
            counts.add(request)
            // The wall clock may have been set back.
            let microseconds = max(0, request.settleTime &- request.receiveTime)
            self.ackDuration.recordMicroseconds(microseconds)
            self.requestEvents.record(request.eventCount)
        }
        for outcome in RequestOutcome.allCases {
            self.count(method, outcome, times: counts.outcomes[outcome.rawValue])
        }
        Self.add(counts.verdicts, to: self.verdicts)
        Self.add(counts.violations, to: self.violations)
        Self.add(counts.hits, to: self.hits)
    }

    /// Counts requests whose events are not counted.
    func count(_ method: RequestMethod, _ outcome: RequestOutcome, times count: Int = 1) {
        guard count > 0 else { return }
        self.requests[method]?[outcome.rawValue].increment(by: count)
    }

    /// Records how long a unary call took.
    func countCall(_ method: RequestMethod, nanoseconds: UInt64) {
        self.callDurations[method]?.recordNanoseconds(nanoseconds)
    }

    /// Records the bytes of requests admitted together, and the duration of their admission.
    func countAdmission(bytes: Int, nanoseconds: UInt64) {
        self.receivedBytes.increment(by: bytes)
        self.admissionDuration.recordNanoseconds(nanoseconds)
    }

    /// Records a commit.
    func countCommit(_ duration: Duration) {
        self.journalGroups.increment()
        self.commitDuration.recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }

    /// Counts an RPC that failed.
    func countRefusal(_ reason: ServiceError.Reason) { self.refusals[reason]?.increment() }

    /// Counts a connection that the server closed or refused.
    func count(_ end: ConnectionEnd) { self.connectionEnds[end]?.increment() }

    /// Counts a request of the HTTP port.
    func count(_ tally: DoorTally) { self.doors[tally.door]?.count(tally) }

    /// Counts a request to `/r/`.
    func count(_ outcome: PostbackOutcome) { self.postbacks[outcome]?.increment() }

    /// Counts a request that was passed on, or should have been.
    func count(_ outcome: UpstreamOutcome) { self.postbackUpstream[outcome]?.increment() }

    private static func add<let count: Int>(
        _ counts: borrowing InlineArray<count, Int>, to counters: [(number: Int, counter: Counter)]
    ) {
        for (number, counter) in counters where counts[number] > 0 {
            counter.increment(by: counts[number])
        }
    }
}
