internal import HTTPTypes
internal import Logging
internal import Synchronization

/// Logs a sample of what is no postback: whoever points an app here has to see why nothing comes,
/// and whoever scans the port may not fill a disk. It never holds a query, which names a person.
final class PostbackLog: Sendable {
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let samples = Mutex<[PostbackOutcome: Sample]>([:])

    /// The time between two records of one outcome.
    static let interval = Duration.seconds(10)
    /// The bytes of a host's name that are shown.
    static let hostBytes = 80

    private struct Sample {
        var count = 0
        var lastLogged: ContinuousClock.Instant?
    }

    /// - Parameter now: the time of the samples; tests substitute it.
    init(
        logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.logger = logger
        self.now = now
    }

    /// Notes a request that is answered with 404, or an address that sends too much.
    func note(_ request: DoorRequest, _ outcome: PostbackOutcome) {
        let now = self.now()
        let count: Int? = self.samples.withLock { samples in
            samples[outcome, default: Sample()].count += 1
            let last = samples[outcome]?.lastLogged
            if let last, last.duration(to: now) < Self.interval { return nil }
            samples[outcome]?.lastLogged = now
            return samples[outcome]?.count
        }
        guard let count else { return }
        let host = String(decoding: request.host.utf8.prefix(Self.hostBytes), as: UTF8.self)
        self.logger.notice(
            "not a postback that is recorded",
            metadata: [
                "reason": "\(outcome.rawValue)", "method": "\(request.method.rawValue)",
                "host": "\(host)", "fix": "\(Self.fix(outcome))",
                "count": .stringConvertible(count),
            ])
    }

    private static func fix(_ outcome: PostbackOutcome) -> String {
        switch outcome {
        case .unknownHost: "add the host to postback.hosts"
        case .otherProduct: "correct the host's product in postback.hosts"
        case .throttled:
            "raise postback.per_address_per_second, or behind a proxy set it to 0"
        case .unreadable:
            "none if it is a tracked link or a scan; postback.upstream passes such requests on"
        case .recorded, .duplicate, .refused, .retry, .head: "none"
        }
    }
}
