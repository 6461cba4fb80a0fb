/// What the server does while a client sends its events, and how the client has to end.
package struct Scenario: Sendable {
    /// The name for `--scenario`.
    package let name: String
    /// What is tried.
    package let title: String
    /// The plans of the streams in order; the last one is for all that follow.
    var streams = [StreamPlan()]
    var verdicts = VerdictRule.accepted
    /// RETRY_LATER's delay.
    var retryDelay = Duration.milliseconds(400)
    /// How long nobody listens, from the client's first connection on.
    var absence = Duration.zero
    /// Whether the client gets one event first, and the others once it has told that one's verdict:
    /// so that it knows the limits.
    var waitsForFirst = true
    /// Whether the client gets events at all.
    var hasEvents = true
    /// Whether it has to send a key.
    var needsKey = false
    /// Whether the server refuses the client for good.
    var isRefused = false
    /// Whether verdicts may be known before their requests are read.
    var hasEarlyVerdicts = false

    init(_ name: String, _ title: String) {
        self.name = name
        self.title = title
    }

    func with(_ change: (inout Scenario) -> Void) -> Scenario {
        var scenario = self
        change(&scenario)
        return scenario
    }

    func plan(_ stream: Int) -> StreamPlan {
        self.streams[min(stream, self.streams.count - 1)]
    }
}
