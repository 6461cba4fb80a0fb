// What a stream has under way, and what its client has yet to be told. A value: no locks, no I/O.
internal import DequeModule
internal import TrackingCore

/// The requests of one stream between their arrival and their answer.
struct AckLedger {
    /// Requests that may be under way.
    let maxRequests: Int
    /// Bytes that may be under way.
    let maxBytes: Int

    private var underWay: Deque<Entry> = []
    private var bytes = 0
    private(set) var durableSequence: UInt64 = 0
    private var unanswered: [AdmittedRequest] = []
    private var unansweredBytes = 0

    private struct Entry {
        let arrival: Arrival
        var isSettled = false
    }

    /// What the next answer tells.
    struct Answer {
        /// Every request up to it is settled.
        let durableSequence: UInt64
        /// The requests that were settled since the last answer, in order.
        let requests: [AdmittedRequest]
        /// Bytes of these requests.
        let bytes: Int
    }

    init(maxRequests: Int, maxBytes: Int) {
        self.maxRequests = maxRequests
        self.maxBytes = maxBytes
    }

    /// What may be read before the stream has to wait. A single request always may, whatever its
    /// size; but not while the client leaves its answers unread, or they would pile up here.
    var room: Room {
        Room(
            requests: self.maxRequests - self.underWay.count, bytes: self.maxBytes - self.bytes,
            isIdle: self.underWay.isEmpty, isOpen: self.areAnswersRead)
    }

    /// Whether one more request may be read.
    var hasRoom: Bool { self.room.isLeft }

    private var areAnswersRead: Bool {
        self.unanswered.count <= 1
            || (self.unanswered.count / 2 < self.maxRequests
                && self.unansweredBytes < self.maxBytes)
    }

    /// The requests and bytes that may still be taken.
    struct Room {
        fileprivate var requests: Int
        fileprivate var bytes: Int
        fileprivate var isIdle: Bool
        fileprivate let isOpen: Bool

        var isLeft: Bool {
            self.isOpen && (self.isIdle || (self.requests > 0 && self.bytes > 0))
        }

        mutating func take(bytes: Int) {
            self.requests -= 1
            self.bytes -= bytes
            self.isIdle = false
        }
    }

    /// Bytes of all requests that are under way or have yet to be answered.
    var heldBytes: Int { self.bytes + self.unansweredBytes }

    /// Whether nothing is under way.
    var isIdle: Bool { self.underWay.isEmpty }
    var hasAnswer: Bool { !self.unanswered.isEmpty }

    mutating func begin(_ arrival: Arrival) {
        self.underWay.append(Entry(arrival: arrival))
        self.bytes += arrival.bytes
    }

    /// Notes that a request is settled. Requests mostly settle in order, but the watermark never
    /// runs ahead of one that did not.
    mutating func settle(_ request: AdmittedRequest) {
        guard let index = self.underWay.firstIndex(where: { $0.arrival.request === request }) else {
            return
        }
        self.underWay[index].isSettled = true
        while let entry = self.underWay.first, entry.isSettled {
            self.underWay.removeFirst()
            let arrival = entry.arrival
            self.bytes -= arrival.bytes
            self.unansweredBytes += arrival.bytes
            arrival.span?.end(arrival.request)
            self.durableSequence = max(self.durableSequence, arrival.request.watermark)
            self.unanswered.append(arrival.request)
        }
    }

    /// Takes what has to be told; nil where there is nothing.
    mutating func takeAnswer() -> Answer? {
        guard self.hasAnswer else { return nil }
        // The list leaves as it is: emptied in place it would have to be copied first.
        let requests = self.unanswered
        let bytes = self.unansweredBytes
        self.unanswered = []
        self.unansweredBytes = 0
        return Answer(durableSequence: self.durableSequence, requests: requests, bytes: bytes)
    }
}

/// A request as it came in.
struct Arrival {
    let request: AdmittedRequest
    let span: RequestSpan?
    /// Bytes of memory that it holds until it is answered.
    let bytes: Int
}

extension AdmittedRequest {
    /// How far settling it moves the watermark. The number of a request that could not be read may
    /// be anything, and a client forgets all below the watermark: it moves nothing.
    fileprivate var watermark: UInt64 { self.violation?.code == .malformed ? 0 : self.sequence }
}
