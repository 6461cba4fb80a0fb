// What a quota says to a stream that asks whether it may be read on.

/// Why a tenant has to wait.
struct QuotaExcess: Sendable, Equatable {
    /// Which of its rates is used up.
    enum Rate: String, Sendable {
        case events
        case bytes
    }

    /// The rate that makes it wait longest.
    let rate: Rate
    /// What it may send per second.
    let perSecond: Int
    /// How long until it may send again.
    let wait: Duration
}

/// When a stream may be read on.
enum QuotaPace: Sendable, Equatable {
    /// At once.
    case goOn
    /// After this time.
    case wait(Duration)
    /// Not within the time that a stream may be slowed.
    case end(QuotaExcess)
}
