/// Groups events into batches that fit a request. It only decides; the caller sends.
package struct Batcher: Sendable {
    /// The next batch.
    package enum Batch: Sendable {
        /// Fewer events wait than a full batch.
        case none
        /// The events of one request, in order.
        case events([OutgoingEvent])
        /// An event that exceeds the limit of a request on its own; it was removed.
        case tooLarge(OutgoingEvent)
    }

    /// The limits of a batch; they may change between batches.
    package var limits: RequestLimits
    /// The waiting events, in order.
    package private(set) var waiting: [OutgoingEvent] = []
    private var waitingByteCount = 0

    /// Creates an empty batcher.
    package init(limits: RequestLimits) {
        self.limits = limits
    }

    /// Whether another event may be added. Up to two batches wait, so that reading and sending
    /// overlap while memory stays bounded.
    package var hasRoom: Bool {
        self.waiting.count / 2 < self.limits.maxEvents
            && self.waitingByteCount / 2 < self.limits.maxRequestBytes
    }

    /// Appends an event.
    package mutating func add(_ event: OutgoingEvent) {
        self.waiting.append(event)
        self.waitingByteCount += event.requestByteCount
    }

    /// Prepends events, keeping their order.
    package mutating func putBack(_ events: [OutgoingEvent]) {
        self.waiting.insert(contentsOf: events, at: 0)
        self.waitingByteCount += events.reduce(0) { $0 + $1.requestByteCount }
    }

    /// Removes the next batch: a full one, or with `flush` all waiting events. A batch is full at
    /// `maxEvents`, or if the next event would exceed `maxRequestBytes`.
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
