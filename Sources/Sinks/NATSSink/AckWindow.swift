#if NATS
// What is under way to the stream, and what has come back. The library's threads only count here;
// the publisher waits here.
internal import CNats
internal import Dispatch
internal import Synchronization

/// The hits of a batch that were published, counted until each is acked or refused.
final class AckWindow: Sendable {
    /// What has come back.
    struct Answers {
        /// Hits that are under way.
        var pending = 0
        /// Reasons of hits that are refused for good, by hit id.
        var refused: [String: String] = [:]
        /// Why some hit was not taken now.
        var failure: String?
        /// The newest place of a hit, which takes all others with it when it is lost.
        var newest: NATSResumeToken.Mark?
        /// The lowest place that a hit was newly given.
        var lowestNew = UInt64.max
    }

    private struct State {
        var answers = Answers()
        /// The number of hits under way that somebody waits for.
        var awaited = -1
    }

    private let state = Mutex(State())
    private let progress = DispatchSemaphore(value: 0)

    /// What has come back so far.
    var answers: Answers { self.state.withLock { $0.answers } }

    /// Whether some hit was not taken, so that the rest of its batch need not be sent.
    var hasFailed: Bool { self.state.withLock { $0.answers.failure != nil } }

    /// Begins a batch; nothing may be under way.
    func begin() { self.state.withLock { $0.answers = Answers() } }

    /// Counts a hit that is about to be published.
    func add() { self.state.withLock { $0.answers.pending += 1 } }

    /// Notes why a hit was not taken, unless something was noted before.
    func fail(_ reason: String) {
        self.state.withLock { state in
            if state.answers.failure == nil { state.answers.failure = reason }
        }
    }

    /// Takes back a hit that could not be published.
    func remove() { self.end { _ in } }

    /// Waits until at most `count` hits are under way; false where that takes too long.
    func wait(downTo count: Int, seconds: Double) -> Bool {
        let deadline = DispatchTime.now() + seconds
        while true {
            let isReached = self.state.withLock { state in
                state.awaited = state.answers.pending <= count ? -1 : count
                return state.awaited < 0
            }
            if isReached { return true }
            if self.progress.wait(timeout: deadline) == .timedOut { return false }
        }
    }

    /// Handles an ack or a refusal on one of the library's threads.
    fileprivate func take(
        _ message: OpaquePointer?, _ ack: jsPubAck?, _ problem: jsPubAckErr?
    ) {
        self.end { answers in
            if let ack {
                if !ack.Duplicate { answers.lowestNew = min(answers.lowestNew, ack.Sequence) }
                if ack.Sequence > answers.newest?.sequence ?? 0 {
                    answers.newest = Self.hitID(of: message).map {
                        NATSResumeToken.Mark(sequence: ack.Sequence, hitID: $0)
                    }
                }
            } else if let problem, problem.ErrCode.isForGood {
                let hitID = Self.hitID(of: message) ?? ""
                answers.refused[hitID] = Self.reason(problem, quotes: true)
            } else if answers.failure == nil {
                answers.failure =
                    problem.map { Self.reason($0, quotes: false) } ?? "an answer without an ack"
            }
        }
    }

    private func end(_ change: (inout Answers) -> Void) {
        let isAwaited = self.state.withLock { state in
            state.answers.pending -= 1
            change(&state.answers)
            return state.answers.pending == state.awaited
        }
        if isAwaited { self.progress.signal() }
    }

    /// The hit id in a message's headers.
    static func hitID(of message: OpaquePointer?) -> String? {
        var value: UnsafePointer<CChar>?
        guard let message, natsMsgHeader_Get(message, "Nats-Msg-Id", &value) == NATS_OK
        else { return nil }
        return value.map { String(cString: $0) }
    }

    /// - Parameter quotes: whether it has what is said in the answer, which may name a person:
    ///   for a dead letter, and never for a log.
    private static func reason(_ problem: jsPubAckErr, quotes: Bool) -> String {
        let text = quotes ? problem.ErrText.map { String(cString: $0) } : nil
        return NATSError(text ?? "publishing", problem.Err, problem.ErrCode, quotes: quotes)
            .description
    }
}

/// The library's callback, called on a thread of its own once for each accepted message.
func takeNATSAck(
    _ context: OpaquePointer?, _ message: OpaquePointer?,
    _ ack: UnsafeMutablePointer<jsPubAck>?, _ problem: UnsafeMutablePointer<jsPubAckErr>?,
    _ window: UnsafeMutableRawPointer?
) {
    if let window {
        Unmanaged<AckWindow>.fromOpaque(window).takeUnretainedValue()
            .take(message, ack?.pointee, problem?.pointee)
    }
    natsMsg_Destroy(message)
}
#endif
