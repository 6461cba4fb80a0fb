// How much of a year is lived, and with which limits.
internal import Operations
internal import SQLiteSink
internal import TrackingJournal

/// The scale of a year. A server that takes 100 events a second gets 3.5 billion in 400 days. Here
/// are as many requests a day as `requestsPerDay`, of `eventsPerRequest` events each. Limits of
/// amounts are smaller in the same proportion; limits of time are the server's own, or in a shorter
/// year smaller in proportion to its days. What is compared with the first half of the year does
/// not depend on either.
struct YearPlan: Sendable {
    let seed: UInt64
    let days: Int
    let eventsPerRequest: Int
    /// Whether the process is the year's own, so that its memory and its starts can be measured.
    let isAlone: Bool

    /// The days of a whole year.
    static let wholeDays = 400
    static let requestsPerDay = 12
    /// Every second request's tenant puts totals. A clock that was wrong is right again at the next
    /// put, as it is at the next request.
    static let requestsPerPut = 2
    /// The whole days for which hits.db counts by the hour, as docs/hits.md says.
    static let hourlyDays = 90
    /// With these, one event stands for 2,000.
    static let standardEventsPerRequest = 360
    /// The events a day that the year stands for: 100 a second.
    static let standardEventsPerDay = 8_640_000

    /// The events that one event stands for.
    var scale: Int { Self.standardEventsPerDay / (self.eventsPerRequest * Self.requestsPerDay) }

    /// A number of days of a whole year, in this one.
    private func scaled(_ days: Int, atLeast least: Int) -> Int {
        max(least, days * self.days / Self.wholeDays)
    }

    var restartDays: Int { self.scaled(7, atLeast: 2) }
    /// The starts after which the key of subjects is another one.
    static let startsPerKey = 9
    /// The probability that the clock is wrong for one request of a day: 20 times a year.
    var wrongClock: Double { min(0.5, 20 / Double(self.days)) }
    /// The probability that the clock is wrong when a process starts.
    static let wrongStart = 0.25

    var sqlite: SQLiteConfiguration {
        var configuration = SQLiteConfiguration()
        configuration.retainDays = self.scaled(90, atLeast: 6)
        configuration.uniqueDays = self.scaled(30, atLeast: 6)
        // By age alone: what is there can then be told exactly.
        configuration.maxBytes = 0
        return configuration
    }

    var journal: Journal.Configuration {
        var configuration = Journal.Configuration()
        // A request has to fit, however small the scale is.
        configuration.maxBytes = max(1 << 20, configuration.maxBytes / self.scale)
        configuration.segmentBytes = 128 << 10
        configuration.windowCapacity = max(1000, configuration.windowCapacity / self.scale)
        configuration.retainSeconds = 6 * 3600
        configuration.ledger.maxRows = 400_000
        configuration.ledger.retainDays = self.scaled(90, atLeast: 6)
        return configuration
    }

    var quarantine: QuarantineConfiguration {
        var configuration = QuarantineConfiguration()
        configuration.retainDays = self.scaled(7, atLeast: 5)
        return configuration
    }

    /// Kept shorter than by default, or none would go in a year.
    var deliveries: DeliveryTotalsConfiguration {
        var configuration = DeliveryTotalsConfiguration()
        configuration.retainDays = self.scaled(90, atLeast: 6)
        return configuration
    }

    var maxDeadLetters: Int { max(20, 100_000 / self.scale) }

    func privacy(_ directory: String) -> PrivacyConfiguration {
        var configuration = PrivacyConfiguration()
        configuration.subject = .hashed
        configuration.keyFile = directory + "/subjects.keys"
        return configuration
    }
}
