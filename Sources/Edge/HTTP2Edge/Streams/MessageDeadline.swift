internal import NIOCore

/// Limits how long the message that is being received may stay incomplete. A single timer suffices:
/// when it fires, it is started again for the message that is current then. A value: the caller
/// passes the time.
struct MessageDeadline {
    /// What to do when the timer fires.
    enum Action: Equatable {
        case nothing
        case wait(TimeAmount)
        case refuse(CallRefusal)
    }

    /// How long a message may take.
    private let timeout: Duration
    /// The incomplete message's number, and when it began.
    private var unfinished: (message: Int, since: NIODeadline)?
    private var hasTimer = false

    init(timeout: Duration) { self.timeout = timeout }

    /// Tracks a message by its number; nil if none is incomplete.
    ///
    /// - Returns: the time after which `timerFired` must be called; nil if there is no need, or a
    ///   timer was started before.
    mutating func watch(
        _ message: Int?, at now: @autoclosure () -> NIODeadline
    ) -> TimeAmount? {
        guard let message else {
            self.unfinished = nil
            return nil
        }
        if self.unfinished?.message != message { self.unfinished = (message, now()) }
        guard !self.hasTimer else { return nil }
        self.hasTimer = true
        return TimeAmount(self.timeout)
    }

    /// The timer has fired.
    mutating func timerFired(at now: NIODeadline) -> Action {
        self.hasTimer = false
        guard let since = self.unfinished?.since else { return .nothing }
        let left = since + TimeAmount(self.timeout) - now
        guard left <= .zero else {
            self.hasTimer = true
            return .wait(left)
        }
        return .refuse(.messageUnfinished(after: self.timeout))
    }
}
