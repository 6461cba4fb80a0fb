internal import DequeModule

/// The events queued for one reader. A value without locks or clocks.
struct TapQueue: Sendable {
    private let maxBytes: Int
    private let eventsPerSecond: Int
    private var events: Deque<TappedOutcome> = []
    private var bytes = 0
    private var missed: UInt64 = 0
    /// The second of the monotonic clock that `count` belongs to.
    private var second: UInt64 = 0
    private var count = 0

    /// The bytes of events in a response.
    private static let maxResponseBytes = 256 << 10

    init(_ configuration: TapConfiguration) {
        self.maxBytes = configuration.queueBytes
        self.eventsPerSecond = configuration.eventsPerSecond
    }

    /// Adds the event that `event` makes, or counts it as missed. When the queue is full, the
    /// newest events are missed, so that the shown ones are consecutive.
    mutating func offer(second: UInt64, _ event: () -> TappedOutcome) {
        if second != self.second { (self.second, self.count) = (second, 0) }
        guard self.count < self.eventsPerSecond, self.bytes < self.maxBytes else {
            self.missed += 1
            return
        }
        let event = event()
        guard self.bytes + event.bytes <= self.maxBytes else {
            self.missed += 1
            return
        }
        self.count += 1
        self.bytes += event.bytes
        self.events.append(event)
    }

    /// Whether `take` has something.
    var isEmpty: Bool { self.events.isEmpty && self.missed == 0 }

    /// The oldest events that fit into a response, and the number of missed ones.
    mutating func take() -> (events: [TappedOutcome], missed: UInt64) {
        var taken: [TappedOutcome] = []
        var takenBytes = 0
        while let event = self.events.first {
            takenBytes += event.bytes
            if !taken.isEmpty, takenBytes > Self.maxResponseBytes { break }
            taken.append(self.events.removeFirst())
            self.bytes -= event.bytes
        }
        // The missed events are newer than all queued ones.
        guard self.events.isEmpty else { return (taken, 0) }
        defer { self.missed = 0 }
        return (taken, self.missed)
    }
}
