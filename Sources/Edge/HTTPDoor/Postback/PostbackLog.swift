internal import HTTPTypes
internal import Logging
internal import Synchronization
internal import WireFormat

/// Logs a sample of what is no postback: whoever points an app here has to see why nothing comes,
/// whatever comes to other hosts, and whoever scans the port may not fill a disk. It never holds a
/// query, which names a person.
final class PostbackLog: Sendable {
    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let samples = Mutex<[Key: Sample]>([:])
    /// The time between two records of one outcome of a host.
    let interval: Duration

    /// That time for up to 10 hosts.
    static let leastInterval = Duration.seconds(10)
    /// The bytes of a host's name that are shown.
    static let hostBytes = 80
    /// The characters of a method that are shown: HTTP/2 takes any word.
    static let methodCharacters = 16

    /// What has records of its own: an outcome of a host in `postback.hosts`, or of all others.
    private struct Key: Hashable {
        let outcome: PostbackOutcome
        let host: ExactText

        init(_ request: DoorRequest, _ outcome: PostbackOutcome) {
            self.outcome = outcome
            self.host = ExactText(outcome == .unknownHost ? "" : request.host)
        }
    }

    private struct Sample {
        var count = 0
        var lastLogged: ContinuousClock.Instant?
    }

    /// - Parameters:
    ///   - hosts: the number of hosts. Beyond 10 each of them makes the interval a second longer,
    ///     so that all together write no more.
    ///   - now: the time of the samples; tests substitute it.
    init(
        logger: Logger, hosts: Int,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.logger = logger
        self.interval = max(Self.leastInterval, .seconds(hosts))
        self.now = now
    }

    /// Notes a request that is answered with 404, or an address that sends too much. All outcomes
    /// but `unknownHost` are of hosts in `postback.hosts`.
    func note(_ request: DoorRequest, _ outcome: PostbackOutcome) {
        let (now, key) = (self.now(), Key(request, outcome))
        let count: Int? = self.samples.withLock { samples in
            var sample = samples[key] ?? Sample()
            defer { samples[key] = sample }
            sample.count += 1
            if let last = sample.lastLogged, last.duration(to: now) < self.interval { return nil }
            sample.lastLogged = now
            return sample.count
        }
        guard let count else { return }
        let host = String(decoding: request.host.utf8.prefix(Self.hostBytes), as: UTF8.self)
        let method = request.method.rawValue.cut(toScalars: Self.methodCharacters)
        self.logger.notice(
            "not a postback that is recorded",
            metadata: [
                "reason": "\(outcome.rawValue)", "method": "\(method)",
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
