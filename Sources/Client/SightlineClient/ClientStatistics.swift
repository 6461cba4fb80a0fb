public import SightlineProtos

/// What a client holds at present, and its counts since it was created.
public struct ClientStatistics: Sendable, Equatable {
    /// The number of events without a final verdict.
    public internal(set) var pendingCount = 0
    /// Their bytes in requests.
    public internal(set) var pendingByteCount = 0
    /// The number of events by final verdict.
    public internal(set) var verdicts: [Sightline_V1_Verdict: Int] = [:]
    /// The number of streams opened.
    public internal(set) var streamCount = 0
    /// The number of requests that were written on more than one stream.
    public internal(set) var resentRequestCount = 0
    /// How often the server answered an event with RETRY_LATER.
    public internal(set) var retriedEventCount = 0
    /// The number of events that `trySend` refused.
    public internal(set) var refusedCount = 0
    /// Why the last stream failed, or that the server answers every event with RETRY_LATER; nil
    /// before that, and once events have verdicts again. It may come from the server.
    public internal(set) var lastFailure: String?

    /// The bytes of a torn, never synced end that were cut from the spool when it was opened.
    public internal(set) var cutByteCount = 0

    /// The number of events with a final verdict.
    public var settledCount: Int { self.verdicts.values.reduce(0, +) }
    /// The number of streams opened after the first.
    public var reconnectionCount: Int { max(0, self.streamCount - 1) }

    /// What errors say of the last failure, behind their own words.
    static func words(lastFailure: String?) -> String {
        lastFailure.map { "; the last failure: \($0)" } ?? ""
    }
}
