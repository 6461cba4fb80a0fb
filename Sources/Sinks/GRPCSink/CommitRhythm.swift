internal import WireFormat

/// What a backend's commits cost: while the server waits for an ack, it sends nothing, so no more
/// than a window of hits comes in that time.
package struct CommitRhythm: Equatable {
    /// How long the ack took of a message after which nothing is sent.
    let delay: Duration
    /// The hits that may wait for an ack.
    let windowHits: Int

    /// - Parameter stream: one whose last message is acknowledged; nil if none is.
    package init?(of stream: DeliverStream) {
        guard let delay = stream.ackDelay, let hits = stream.windowHits else { return nil }
        self.init(delay: delay, windowHits: hits)
    }

    init(delay: Duration, windowHits: Int) {
        // What is measured to the millisecond never took none.
        (self.delay, self.windowHits) = (max(delay, .milliseconds(1)), windowHits)
    }

    /// A commit to a disk or a table takes less; a backend that takes longer waits for its clock.
    static let slowest = Duration.milliseconds(250)

    /// Whether the backend seems to commit by time alone.
    package var isSlow: Bool { self.delay > Self.slowest }

    /// The most that can come, in hits per second.
    var hitsPerSecond: Int {
        Int((Double(self.windowHits) / (self.delay / .seconds(1))).rounded(.down))
    }

    /// What was seen, and what it costs.
    package var sentence: String {
        let text =
            "the ack of a message with awaits_ack took \(Int(self.delay / .milliseconds(1))) ms: "
            + "with a window of \(self.windowHits) hits, at most \(self.hitsPerSecond) hits/s"
        guard self.isSlow else { return text }
        return text + ". The backend seems to commit by time: let it commit as soon as awaits_ack "
            + "is set (\(Documentation.page("sinks/grpc.md#the-rhythm-of-commits")))"
    }
}
