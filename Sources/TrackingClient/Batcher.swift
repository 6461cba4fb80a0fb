// Puts events together to batches that a request may hold. Pure: it decides, and sends nothing.

/// Events that wait to be put into a request.
package struct Batcher: Sendable {
    /// What to send next.
    package enum Batch: Sendable {
        /// Too few wait for a full batch.
        case none
        /// Events for one request, in order.
        case events([OutgoingEvent])
        /// An event that not even a request of its own may hold; it no longer waits.
        case tooLarge(OutgoingEvent)
    }

    /// The bounds of a batch; they may change between batches.
    package var limits: RequestLimits
    /// Events that wait, in order.
    package private(set) var waiting: [OutgoingEvent] = []
    private var waitingByteCount = 0

    /// Starts empty.
    package init(limits: RequestLimits) {
        self.limits = limits
    }

    /// Whether one more event may be added: two batches may wait, so that reading and sending
    /// overlap and the memory stays bounded.
    package var hasRoom: Bool {
        self.waiting.count / 2 < self.limits.maxEvents
            && self.waitingByteCount / 2 < self.limits.maxRequestBytes
    }

    /// Adds an event behind all others.
    package mutating func add(_ event: OutgoingEvent) {
        self.waiting.append(event)
        self.waitingByteCount += event.requestByteCount
    }

    /// Puts events in front of all others, in their order.
    package mutating func putBack(_ events: [OutgoingEvent]) {
        self.waiting.insert(contentsOf: events, at: 0)
        self.waitingByteCount += events.reduce(0) { $0 + $1.requestByteCount }
    }

    /// Takes the next batch: a full one, or with `flush` whatever waits. A batch is full at
    /// `maxEvents`, or where the next event would take the request over `maxRequestBytes`.
    package mutating func take(flush: Bool) -> Batch {
        guard let first = self.waiting.first else { return .none }
        let room = self.limits.maxRequestBytes - RequestLimits.requestOverheadByteCount
        guard first.requestByteCount <= room else {
            self.remove(1)
            return .tooLarge(first)
        }
        var byteCount = 0
        var count = 0
        for event in self.waiting.prefix(self.limits.maxEvents) {
            guard event.requestByteCount <= room - byteCount else { break }
            byteCount += event.requestByteCount
            count += 1
        }
        let isFull = count == self.limits.maxEvents || count < self.waiting.count
        guard isFull || flush else { return .none }
        let events = Array(self.waiting.prefix(count))
        self.remove(count)
        return .events(events)
    }

    private mutating func remove(_ count: Int) {
        let byteCount = self.waiting.prefix(count).reduce(0) { $0 + $1.requestByteCount }
        self.waitingByteCount -= byteCount
        self.waiting.removeFirst(count)
    }
}
