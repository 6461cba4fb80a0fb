internal import DequeModule
internal import TrackingRules

/// Tracks a stream's requests from their arrival to their ack. A value without locks or I/O.
struct RequestTracker {
    /// The maximum requests in flight.
    let maxRequests: Int
    /// The maximum bytes in flight.
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

    /// The contents of the next answer.
    struct Answer {
        /// The watermark: all requests up to it are settled.
        let durableSequence: UInt64
        /// The requests settled since the previous answer, in order.
        let requests: [AdmittedRequest]
        /// The bytes of these requests.
        let bytes: Int

        /// How many of their events get a result of their own.
        func resultCount(includesAccepted: Bool) -> Int {
            self.requests.reduce(0) { count, request in
                count &+ (includesAccepted ? request.eventCount : request.refusals.count)
            }
        }
    }

    init(maxRequests: Int, maxBytes: Int) {
        self.maxRequests = maxRequests
        self.maxBytes = maxBytes
    }

    /// What may be read before the stream has to wait. A single request may have any size, but
    /// nothing is read while the client leaves answers unread: they would accumulate.
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

    /// The requests and bytes that may still be read.
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

    /// The bytes of all requests in flight or unanswered.
    var heldBytes: Int { self.bytes + self.unansweredBytes }

    /// Whether no request is in flight.
    var isIdle: Bool { self.underWay.isEmpty }
    var hasAnswer: Bool { !self.unanswered.isEmpty }

    mutating func begin(_ arrival: Arrival) {
        self.underWay.append(Entry(arrival: arrival))
        self.bytes += arrival.bytes
    }

    /// Settles a request. The watermark never passes an unsettled one, although requests may settle
    /// out of order.
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

    /// The next answer; nil if there is nothing to report.
    mutating func takeAnswer() -> Answer? {
        guard self.hasAnswer else { return nil }
        // Assign a new array: emptying it in place would copy it, since `requests` shares it.
        let requests = self.unanswered
        let bytes = self.unansweredBytes
        self.unanswered = []
        self.unansweredBytes = 0
        return Answer(durableSequence: self.durableSequence, requests: requests, bytes: bytes)
    }
}

/// An admitted request with its memory.
struct Arrival {
    let request: AdmittedRequest
    let span: RequestSpan?
    /// The bytes that it counts for until it is answered.
    let bytes: Int
}

extension AdmittedRequest {
    /// The watermark once it is settled. A malformed request moves nothing: its sequence may be
    /// arbitrary, and clients drop everything up to the watermark.
    fileprivate var watermark: UInt64 { self.violation?.code == .malformed ? 0 : self.sequence }
}
