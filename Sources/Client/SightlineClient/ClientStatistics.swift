public import SightlineProtos

/// What a client holds now, and has done since it was made.
public struct ClientStatistics: Sendable, Equatable {
    /// The events without a final verdict.
    public internal(set) var pendingCount = 0
    /// Their bytes in requests.
    public internal(set) var pendingByteCount = 0
    /// Events by their final verdict.
    public internal(set) var verdicts: [Sightline_V1_Verdict: Int] = [:]
    /// The streams that were opened.
    public internal(set) var streamCount = 0
    /// The requests that were written on more than one stream.
    public internal(set) var resentRequestCount = 0
    /// The times that the server put an event off by RETRY_LATER.
    public internal(set) var retriedEventCount = 0
    /// The events that `trySend` did not take.
    public internal(set) var refusedCount = 0

    /// The bytes of a torn end, never synced, that were cut from the spool as it was opened.
    public internal(set) var cutByteCount = 0

    /// The number of events with a final verdict.
    public var settledCount: Int { self.verdicts.values.reduce(0, +) }
    /// The number of streams opened after the first.
    public var reconnectionCount: Int { max(0, self.streamCount - 1) }
}
