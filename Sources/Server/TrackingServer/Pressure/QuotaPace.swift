/// A quota that was exceeded.
struct QuotaExcess: Sendable, Equatable {
    /// The rate that was exceeded.
    enum Rate: String, Sendable {
        case events
        case bytes
    }

    /// The rate with the longest wait.
    let rate: Rate
    /// Its limit per second.
    let perSecond: Int
    /// The time until the tenant may send again.
    let wait: Duration
}

/// Whether and when a stream may be read further.
enum QuotaPace: Sendable, Equatable {
    /// Immediately.
    case goOn
    /// After this delay.
    case wait(Duration)
    /// Not within the time that a stream may be delayed.
    case end(QuotaExcess)
}
