internal import SightlineProtos

/// What happened in a scenario, in order, as the server saw it and as the client said it.
struct Transcript: Sendable {
    struct Entry: Sendable {
        /// Since the client was started.
        let time: Duration
        let event: Event
    }

    enum Event: Sendable {
        /// A connection came, while somebody listened or not.
        case connected(isAway: Bool)
        /// A stream was opened, with the right key or not.
        case opened(stream: Int, hasKey: Bool)
        case received(stream: Int, ReceivedRequest)
        case answered(stream: Int, Answer)
        case halfClosed(stream: Int)
        case ended(stream: Int, StreamEnd)
        case said(ClientLine)
        /// The client ended, with its exit code, or nil where it took too long.
        case exited(Int32?)
    }

    private(set) var entries: [Entry] = []

    mutating func note(_ event: Event, at time: Duration) {
        self.entries.append(Entry(time: time, event: event))
    }
}

/// A request as it came.
struct ReceivedRequest: Sendable, Equatable {
    let sequence: UInt64
    /// The events' ids, as they came.
    let ids: [String]
    let bytes: Int
    /// Those of events that nobody gave to the client, or that it has changed.
    var foreign: [String] = []
}

/// An answer of the server.
struct Answer: Sendable, Equatable {
    /// What became of an event.
    struct Told: Sendable, Equatable {
        let id: String
        let verdict: Sightline_V1_Verdict
        let sequence: UInt64
        /// Its index in the request; nil where the whole request was refused.
        var index: UInt32?
        /// Whether its request was beyond the limits, so that it may come again in a smaller one.
        var mayComeAgain = false
    }

    var watermark: UInt64
    var told: [Told] = []
    var limits: ToldLimits?
    var closingGrace: Duration?
    var retryDelay: Duration?
}

/// How a stream ended.
enum StreamEnd: Sendable, Equatable {
    case ok
    case cut
    case status(Refusal)
    /// The client cancelled it, or ended its connection.
    case client
}
