// What a stream has under way, and what its client has yet to be told. A value: no locks, no I/O.
internal import TrackingCore

/// The requests of one stream between their arrival and their answer.
struct AckLedger {
    /// Requests that may be under way.
    let maxRequests: Int
    /// Bytes that may be under way.
    let maxBytes: Int

    private var underWay: [Entry] = []
    private var bytes = 0
    private(set) var durableSequence: UInt64 = 0
    private var unanswered: [AdmittedRequest] = []

    private struct Entry {
        let request: AdmittedRequest
        let span: RequestSpan?
        let bytes: Int
        var isSettled = false
    }

    /// What the next answer tells.
    struct Answer {
        /// Every request up to it is settled.
        let durableSequence: UInt64
        /// The requests that were settled since the last answer, in order.
        let requests: [AdmittedRequest]
    }

    init(maxRequests: Int, maxBytes: Int) {
        self.maxRequests = maxRequests
        self.maxBytes = maxBytes
    }

    /// Whether one more request may be read. A single one always may, whatever its size.
    var hasRoom: Bool {
        self.underWay.isEmpty
            || (self.underWay.count < self.maxRequests && self.bytes < self.maxBytes)
    }

    /// Whether nothing is under way.
    var isIdle: Bool { self.underWay.isEmpty }
    var hasAnswer: Bool { !self.unanswered.isEmpty }

    mutating func begin(_ request: AdmittedRequest, span: RequestSpan?, bytes: Int) {
        self.underWay.append(Entry(request: request, span: span, bytes: bytes))
        self.bytes += bytes
    }

    /// Notes that a request is settled. Requests mostly settle in order, but the watermark never
    /// runs ahead of one that did not.
    mutating func settle(_ request: AdmittedRequest) {
        guard let index = self.underWay.firstIndex(where: { $0.request === request }) else {
            return
        }
        self.underWay[index].isSettled = true
        guard index == 0 else { return }
        let settled = self.underWay.prefix { $0.isSettled }
        for entry in settled {
            self.bytes -= entry.bytes
            entry.span?.end(entry.request)
            self.durableSequence = max(self.durableSequence, entry.request.watermark)
            self.unanswered.append(entry.request)
        }
        self.underWay.removeFirst(settled.count)
    }

    /// Takes what has to be told; nil where there is nothing.
    mutating func takeAnswer() -> Answer? {
        guard self.hasAnswer else { return nil }
        defer { self.unanswered.removeAll(keepingCapacity: true) }
        return Answer(durableSequence: self.durableSequence, requests: self.unanswered)
    }
}

extension AdmittedRequest {
    /// How far settling it moves the watermark. The number of a request that could not be read may
    /// be anything, and a client forgets all below the watermark: it moves nothing.
    fileprivate var watermark: UInt64 { self.violation?.code == .malformed ? 0 : self.sequence }
}
