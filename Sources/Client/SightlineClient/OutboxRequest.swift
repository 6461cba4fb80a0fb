internal import SightlineProtos

/// Events that are sent together under one sequence, however often they are sent.
package struct OutboxRequest: Sendable {
    /// Rises with each request of a client.
    package let sequence: UInt64
    /// Its events, in order.
    package let tickets: [Ticket]
    /// Whether it is the first of its stream, which carries the options.
    package internal(set) var isFirst = false
    /// Whether it was written before, on any stream.
    package internal(set) var wasWritten = false
    private var results: [UInt32: Sightline_V1_EventResult] = [:]
    private(set) var wholeResult: Sightline_V1_EventResult?

    /// Creates a request that was not written.
    package init(sequence: UInt64, tickets: [Ticket]) {
        self.sequence = sequence
        self.tickets = tickets
    }

    /// An upper bound of its encoded size in bytes.
    package var byteCount: Int {
        self.tickets.reduce(RequestLimits.requestOverheadByteCount) { $0 + $1.requestByteCount }
    }

    /// Keeps a result until the request is settled; ignores results of events that it does not
    /// contain.
    mutating func keep(_ result: Sightline_V1_EventResult) {
        if result.hasIndex {
            guard Int(result.index) < self.tickets.count else { return }
            self.results[result.index] = result
        } else {
            self.wholeResult = result
        }
    }

    /// Drops the results, because a resent request is judged again.
    mutating func forgetResults() {
        self.results = [:]
        self.wholeResult = nil
    }

    /// The result of an event; nil if only the watermark acknowledges it, which means accepted.
    func result(at index: Int) -> Sightline_V1_EventResult? {
        self.results[UInt32(clamping: index)] ?? self.wholeResult
    }

    /// Whether it is too large for the server's limits: it was built before they were known.
    func exceeds(_ limits: RequestLimits) -> Bool {
        self.tickets.count > 1
            && (self.tickets.count > limits.maxEvents || self.byteCount > limits.maxRequestBytes)
    }
}
