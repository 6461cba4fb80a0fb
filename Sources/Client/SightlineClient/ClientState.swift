internal import DequeModule
internal import SightlineProtos

/// The state that a client's calls and tasks share, under its lock.
struct ClientState: Sendable {
    /// A `flush` that waits for the events up to a number.
    final class Flush: Sendable {
        let lastNumber: UInt64
        let done = Promise<Void>()

        init(lastNumber: UInt64) { self.lastNumber = lastNumber }
    }

    /// The result of `take`.
    enum Taking: Sendable {
        /// The event was taken; `wakesWriter` if the writer now has something to do.
        case taken(Ticket, wakesWriter: Bool)
        /// There is no room: try again when the promise is fulfilled.
        case full(Promise<Void>)
    }

    var outbox: Outbox
    var spool: SpoolLog?
    /// Why what was appended last may be lost, though the spool is closed.
    private var spoolFailure: SpoolError?
    private(set) var statistics = ClientStatistics()
    /// Settled events whose results were not read yet, and their bytes in requests.
    private var unread: Deque<Outbox.Settled> = []
    private var unreadByteCount = 0
    /// The callers that wait for a result.
    private var readers: [Promise<Void>] = []
    private(set) var flushes: [(flush: Flush, leftCount: Int)] = []
    private(set) var isClosing = false
    /// Whether no further stream is opened.
    private(set) var isOver = false
    var isRunning = false
    /// The reason why the client has ended.
    private(set) var end = SightlineClientError.closed
    /// Why the last stream failed, or that the server answers RETRY_LATER alone; nil before that,
    /// and once events have verdicts again.
    private(set) var lastFailure: String?
    private var isFailureTold = false
    /// When a failure may be told of next.
    private var nextTelling: Duration = .zero
    private var rooms: [Promise<Void>] = []
    private var takenCount: UInt64 = 0
    private let maxPendingEvents: Int
    private let maxPendingBytes: Int
    private let collectsResults: Bool

    init(_ configuration: ClientConfiguration, outbox: Outbox) {
        self.outbox = outbox
        self.maxPendingEvents = configuration.maxPendingEvents
        self.maxPendingBytes = configuration.maxPendingBytes
        self.collectsResults = configuration.collectsResults
    }

    /// The client's present statistics.
    var currentStatistics: ClientStatistics {
        var statistics = self.statistics
        statistics.pendingCount = self.outbox.count
        statistics.pendingByteCount = self.outbox.byteCount
        statistics.resentRequestCount = self.outbox.resentRequestCount
        statistics.retriedEventCount = self.outbox.retriedEventCount
        statistics.cutByteCount = self.spool?.cutByteCount ?? 0
        statistics.lastFailure = self.lastFailure
        return statistics
    }

    /// Takes an encoded event, and writes it to the spool first.
    ///
    /// - Throws: `SightlineClientError` after the end; `SpoolError`.
    mutating func take(_ bytes: [UInt8], now: () -> Duration) throws -> Taking {
        if self.isClosing || self.isOver {
            // What a close has left is no news for this event.
            if case .timedOut = self.end { throw SightlineClientError.closed }
            throw self.end
        }
        guard self.hasRoom(for: bytes.count) else {
            let room = Promise<Void>()
            self.rooms.append(room)
            return .full(room)
        }
        let place = try self.spool?.append(bytes)
        let (ticket, wakesWriter) = self.add(bytes, place: place, now: now)
        return .taken(ticket, wakesWriter: wakesWriter)
    }

    /// Records the outcome of the spool's sync; returns how many of the appended events are
    /// durable, and why no further one will be.
    mutating func noteSync(
        through count: UInt64, failure: SpoolError?
    ) -> (syncedCount: UInt64, end: SpoolError?) {
        self.spool?.noteSync(through: count, failure: failure)
        if let log = self.spool { return (log.syncedCount, log.failure) }
        return (self.spoolFailure == nil ? .max : 0, self.spoolFailure)
    }

    /// Closes the spool, and releases its directory; returns why it could not be synced.
    mutating func closeSpool() -> SpoolError? {
        defer { self.spool = nil }
        do throws(SpoolError) {
            try self.spool?.close()
            return nil
        } catch {
            self.spoolFailure = error
            return error
        }
    }

    /// Takes the events that an earlier owner of the spool left.
    mutating func take(_ left: [SpoolLog.Left]) {
        for event in left {
            _ = self.add(event.bytes, place: event.place, now: { .zero })
        }
    }

    private mutating func add(
        _ bytes: [UInt8], place: SpoolMarks.Place?, now: () -> Duration
    ) -> (Ticket, wakesWriter: Bool) {
        self.takenCount += 1
        let ticket = Ticket(number: self.takenCount, bytes: bytes, place: place)
        return (ticket, self.outbox.add(ticket, now: now()))
    }

    private func hasRoom(for byteCount: Int) -> Bool {
        let count = self.outbox.count + self.unread.count
        let heldByteCount = self.outbox.byteCount + self.unreadByteCount
        let fits = heldByteCount + byteCount <= self.maxPendingBytes || count == 0
        return count < self.maxPendingEvents && fits
            && self.spool?.hasRoom(for: byteCount) != false
    }

    /// Removes a caller that no longer waits for room.
    mutating func leave(_ room: Promise<Void>) {
        self.rooms.removeAll { $0 === room }
    }

    /// The callers that wait for room, if the spool has failed: each is to get its error.
    mutating func takeRoomsOfFailedSpool() -> [Promise<Void>] {
        self.spool?.failure == nil ? [] : self.takeRooms()
    }

    /// Counts an event that `trySend` refused.
    mutating func refuse(_ room: Promise<Void>) {
        self.leave(room)
        self.statistics.refusedCount += 1
    }

    /// Starts a stream.
    mutating func openStream(now: Duration) {
        self.outbox.openStream(now: now)
        self.statistics.streamCount += 1
    }

    /// The shortest time between two failures that are told of.
    static let tellingInterval: Duration = .seconds(30)

    /// Keeps why a stream has failed; returns whether to tell of it: once in a row of failures.
    mutating func fail(_ reason: String, now: Duration) -> Bool {
        self.lastFailure = reason
        if self.isFailureTold || now < self.nextTelling { return false }
        self.isFailureTold = true
        self.nextTelling = now + Self.tellingInterval
        return true
    }

    /// What became of so many events.
    func report(of count: Int, pendingCount: Int) -> FlushReport {
        FlushReport(
            acknowledgedCount: count - pendingCount, pendingCount: pendingCount,
            lastFailure: pendingCount > 0 ? self.lastFailure : nil)
    }

    /// What `statistics` and errors say of a server that answers events with RETRY_LATER alone.
    static let refusesAll = "RETRY_LATER: the server takes no events now"

    /// Processes an answer; `isNews` if it is to be told that the server takes no events. Settles
    /// nothing after the end: a caller that closed without waiting already has the list of
    /// unsettled events.
    mutating func receive(
        _ answer: Sightline_V1_StreamEventsResponse, now: Duration
    ) -> (settled: [Outbox.Settled], promises: [Promise<Void>], isNews: Bool) {
        if self.isOver { return ([], [], false) }
        let retriedCount = self.outbox.retriedEventCount
        let settled = self.outbox.receive(answer, now: now)
        guard !settled.isEmpty else {
            if self.outbox.retriedEventCount == retriedCount { return ([], [], false) }
            return ([], [], self.fail(Self.refusesAll, now: now))
        }
        (self.lastFailure, self.isFailureTold) = (nil, false)
        self.count(settled)
        self.spool?.release(settled.compactMap { $0.ticket.place })
        var promises = self.settleFlushes(settled)
        if self.collectsResults {
            self.unread += settled
            self.unreadByteCount += settled.reduce(0) { $0 + $1.ticket.requestByteCount }
            promises += self.takeReaders()
        }
        promises += self.takeRooms()
        return (settled, promises, false)
    }

    /// The next result, if there is one.
    enum Reading: Sendable {
        /// A result; callers that wait for room may try again.
        case result(Outbox.Settled, rooms: [Promise<Void>])
        /// None yet: try again when the promise is fulfilled.
        case none(Promise<Void>)
        /// None, and there will be none.
        case over
    }

    /// Removes the oldest unread result.
    mutating func takeResult() -> Reading {
        if let settled = self.unread.popFirst() {
            self.unreadByteCount -= settled.ticket.requestByteCount
            return .result(settled, rooms: self.takeRooms())
        }
        if self.isOver { return .over }
        let next = Promise<Void>()
        self.readers.append(next)
        return .none(next)
    }

    /// Removes a caller that no longer waits for a result.
    mutating func leave(reading next: Promise<Void>) { self.readers.removeAll { $0 === next } }

    /// Begins a flush of all events taken so far.
    mutating func beginFlush() -> (flush: Flush, count: Int) {
        let flush = Flush(lastNumber: self.takenCount)
        self.outbox.hurry()
        if self.outbox.count == 0 || self.isOver {
            flush.done.fulfil(())
        } else {
            self.flushes.append((flush, self.outbox.count))
        }
        return (flush, self.outbox.count)
    }

    /// Ends a flush; returns the number of its events without a verdict.
    mutating func endFlush(_ flush: Flush) -> Int {
        guard let place = self.flushes.firstIndex(where: { $0.flush === flush }) else { return 0 }
        return self.flushes.remove(at: place).leftCount
    }

    /// Stops taking events; returns the callers that wait for room.
    mutating func beginClosing() -> [Promise<Void>] {
        self.isClosing = true
        self.outbox.finish()
        return self.takeRooms()
    }

    /// Ends the client permanently. Events without a verdict stay in the outbox.
    mutating func finish(_ end: SightlineClientError) -> (left: [Ticket], promises: [Promise<Void>])
    {
        if self.isOver { return ([], []) }
        self.isOver = true
        self.end = end
        var promises = self.takeRooms() + self.flushes.map(\.flush.done)
        promises += self.takeReaders()
        return (self.outbox.unsettled, promises)
    }

    private mutating func takeReaders() -> [Promise<Void>] {
        defer { self.readers = [] }
        return self.readers
    }

    private mutating func takeRooms() -> [Promise<Void>] {
        defer { self.rooms = [] }
        return self.rooms
    }

    private mutating func count(_ settled: [Outbox.Settled]) {
        var acceptedCount = 0
        for (_, result) in settled {
            if let result {
                self.statistics.verdicts[result.verdict, default: 0] += 1
            } else {
                acceptedCount += 1
            }
        }
        if acceptedCount > 0 { self.statistics.verdicts[.accepted, default: 0] += acceptedCount }
    }

    private mutating func settleFlushes(_ settled: [Outbox.Settled]) -> [Promise<Void>] {
        guard !self.flushes.isEmpty else { return [] }
        var promises: [Promise<Void>] = []
        for place in self.flushes.indices {
            let last = self.flushes[place].flush.lastNumber
            self.flushes[place].leftCount -= settled.count { $0.ticket.number <= last }
            if self.flushes[place].leftCount == 0 {
                promises.append(self.flushes[place].flush.done)
            }
        }
        return promises
    }
}
