internal import DequeModule
package import SightlineProtos
internal import SwiftProtobuf

/// The events of a client that have no final verdict: waiting, sent, or to be sent again. It
/// decides which request the client writes next, and when a stream has to end. A pure state
/// machine: it has no clock, task or connection. The caller passes times as durations since any
/// fixed moment.
package struct Outbox: Sendable {
    /// The next action of a stream's writer.
    package enum Step: Sendable {
        /// Write this request.
        case write(OutboxRequest)
        /// Half-close the stream.
        case halfClose
        /// Wait for an answer or an event, but at most until the given time.
        case wait(until: Duration?)
    }

    /// An event with its final verdict. Nil: accepted, with nothing else reported.
    package typealias Settled = (ticket: Ticket, result: Sightline_V1_EventResult?)

    /// The limits on the delay that a server asks for by RETRY_LATER.
    package static let retryDelays: ClosedRange<Duration> = .milliseconds(100)...(.seconds(30))
    /// How long a half-closed stream may take to end, beyond the server's grace.
    package static let endTime: Duration = .seconds(5)

    /// The number of events without a final verdict.
    package private(set) var count = 0
    /// Their bytes in requests.
    package private(set) var byteCount = 0
    /// The number of requests written on more than one stream.
    package private(set) var resentRequestCount = 0
    /// How often the server answered an event with RETRY_LATER.
    package private(set) var retriedEventCount = 0
    /// When the stream is ended unless it makes progress; nil for never.
    package private(set) var deadline: Duration?
    /// Whether no further event will be added, and each has its final verdict.
    package var isDone: Bool { self.isFinishing && self.count == 0 }
    /// All requests before this sequence are settled.
    package var oldestSequence: UInt64 { self.pending.first?.sequence ?? self.nextSequence }

    private let ownLimits: RequestLimits
    private var limits: RequestLimits
    private let linger: Duration
    private let answerTimeout: Duration
    /// A random number from 0 to 1.
    private let jitter: @Sendable () -> Double

    private var waiting: Deque<Ticket> = []
    private var waitingByteCount = 0
    /// The number of waiting events, from the front, that do not linger.
    private var hurriedCount = 0
    private var due: Duration = .zero
    private var retryTime: Duration?
    private var pending: Deque<OutboxRequest> = []
    private var nextSequence: UInt64 = 1
    private var isFinishing = false

    // The stream: how many of `pending`, from the front, were written on it, and what it has
    // received.
    private var writtenCount = 0
    private var hasWritten = false
    private var hasAnswer = false
    private var isClosing = false
    private var isHalfClosed = false

    /// Creates an empty outbox. The `limits` apply until the server tightens them; an event waits
    /// up to `linger` for others; a stream is ended when its requests get no answer for
    /// `answerTimeout`.
    package init(
        limits: RequestLimits, linger: Duration, answerTimeout: Duration,
        jitter: @escaping @Sendable () -> Double
    ) {
        self.ownLimits = limits
        self.limits = limits
        self.linger = linger
        self.answerTimeout = answerTimeout
        self.jitter = jitter
    }

    /// The events without a final verdict, in the order in which they will be sent.
    package var unsettled: [Ticket] { self.pending.flatMap(\.tickets) + self.waiting }

    /// Adds an event; returns whether the writer now has something to do.
    package mutating func add(_ ticket: Ticket, now: @autoclosure () -> Duration) -> Bool {
        let isFirst = self.waiting.isEmpty
        if isFirst { self.due = now() + self.linger }
        self.waiting.append(ticket)
        self.waitingByteCount += ticket.requestByteCount
        self.count += 1
        self.byteCount += ticket.requestByteCount
        return isFirst || self.isFull
    }

    /// Sends all waiting events without lingering.
    package mutating func hurry() { self.hurriedCount = self.waiting.count }

    /// Declares that no further event will be added: the stream is half-closed when all are
    /// settled.
    package mutating func finish() {
        self.isFinishing = true
        self.hurry()
    }

    /// Starts a new stream: all unsettled requests are sent again, in order, with their sequences.
    /// It has its deadline from the start: no request is written on a connection that a silent peer
    /// has accepted.
    package mutating func openStream(now: Duration) {
        self.writtenCount = 0
        self.hasWritten = false
        self.hasAnswer = false
        self.isClosing = false
        self.isHalfClosed = false
        self.deadline = now + self.answerTimeout
        self.limits = self.ownLimits
        for place in self.pending.indices { self.pending[place].forgetResults() }
    }

    /// Ends the stream: its writer must stop.
    package mutating func endStream() { self.isClosing = true }

    /// The next action of the stream's writer.
    package mutating func nextStep(now: Duration) -> Step {
        if self.isClosing || self.isDone { return self.halfClose(now: now) }
        // A single request until the first answer contains the server's limits.
        let window = self.hasAnswer ? self.limits.maxUnacknowledgedRequests : 1
        guard self.writtenCount < window else { return .wait(until: nil) }
        if self.writtenCount == self.pending.count {
            if let wait = self.makeRequest(now: now) { return wait }
        }
        return .write(self.writeNext(now: now))
    }

    private mutating func halfClose(now: Duration) -> Step {
        if !self.isHalfClosed {
            self.isHalfClosed = true
            if !self.isClosing { self.deadline = now + Self.endTime }
        }
        return .halfClose
    }

    /// Adds a request of waiting events; or returns what the writer has to wait for.
    private mutating func makeRequest(now: Duration) -> Step? {
        if self.waiting.isEmpty { return .wait(until: nil) }
        if let retryTime, retryTime > now { return .wait(until: retryTime) }
        let goesNow = self.isFull || self.hurriedCount > 0 || self.isFinishing
        if !goesNow, self.due > now { return .wait(until: self.due) }
        self.pending.append(OutboxRequest(sequence: self.nextSequence, tickets: self.takeBatch()))
        self.nextSequence += 1
        self.due = now + self.linger
        return nil
    }

    private var isFull: Bool {
        self.waiting.count >= self.limits.maxEvents
            || self.waitingByteCount + RequestLimits.requestOverheadByteCount
                >= self.limits.maxRequestBytes
    }

    /// Removes the events that fit into a request; at least one.
    private mutating func takeBatch() -> [Ticket] {
        var room = self.limits.maxRequestBytes - RequestLimits.requestOverheadByteCount
        var batch: [Ticket] = []
        batch.reserveCapacity(min(self.limits.maxEvents, self.waiting.count))
        while let ticket = self.waiting.first, batch.count < self.limits.maxEvents {
            guard batch.isEmpty || ticket.requestByteCount <= room else { break }
            room -= ticket.requestByteCount
            self.waitingByteCount -= ticket.requestByteCount
            batch.append(self.waiting.removeFirst())
        }
        self.hurriedCount = max(0, self.hurriedCount - batch.count)
        return batch
    }

    private mutating func writeNext(now: Duration) -> OutboxRequest {
        let place = self.pending.index(self.pending.startIndex, offsetBy: self.writtenCount)
        if self.writtenCount == 0 { self.deadline = now + self.answerTimeout }
        if self.pending[place].wasWritten { self.resentRequestCount += 1 }
        self.pending[place].wasWritten = true
        self.pending[place].isFirst = !self.hasWritten
        self.hasWritten = true
        self.writtenCount += 1
        return self.pending[place]
    }
}

extension Outbox {
    /// Processes an answer; returns the events that it settles.
    package mutating func receive(
        _ answer: Sightline_V1_StreamEventsResponse, now: Duration
    ) -> [Settled] {
        self.hasAnswer = true
        if answer.hasLimits { self.limits = self.ownLimits.tightened(by: answer.limits) }
        var mustWait = answer.hasRetryDelay
        for result in answer.results {
            self.keep(result)
            mustWait = mustWait || result.verdict == .retryLater
        }
        let (settled, again) = self.settle(through: answer.durableSequence)
        self.putBack(again)
        if mustWait { self.delay(Duration(answer.retryDelay), now: now) }
        if answer.hasClosing {
            self.isClosing = true
            self.deadline = now + Duration(answer.closing.grace) + Self.endTime
        } else if !self.isHalfClosed {
            self.deadline = self.writtenCount > 0 ? now + self.answerTimeout : nil
        }
        return settled
    }

    /// Keeps a result until the watermark passes its request. The sequences of pending requests
    /// have no gaps: requests are added at one end and settled at the other.
    private mutating func keep(_ result: Sightline_V1_EventResult) {
        guard let first = self.pending.first?.sequence, result.sequence >= first,
            result.sequence - first < UInt64(self.writtenCount)
        else { return }
        let place = self.pending.startIndex + Int(result.sequence - first)
        self.pending[place].keep(result)
    }

    /// Removes requests up to the watermark, but only those written on this stream: a server cannot
    /// have settled a request that it did not receive.
    private mutating func settle(
        through watermark: UInt64
    ) -> (settled: [Settled], again: [Ticket]) {
        var settled: [Settled] = []
        var again: [Ticket] = []
        while self.writtenCount > 0, let first = self.pending.first, first.sequence <= watermark {
            let request = self.pending.removeFirst()
            self.writtenCount -= 1
            if request.wholeResult?.verdict == .rejected, request.exceeds(self.limits) {
                again += request.tickets
                continue
            }
            for (index, ticket) in request.tickets.enumerated() {
                let result = request.result(at: index)
                if result?.verdict == .retryLater {
                    again.append(ticket)
                    self.retriedEventCount += 1
                } else {
                    settled.append((ticket, result))
                    self.byteCount -= ticket.requestByteCount
                }
            }
        }
        self.count -= settled.count
        return (settled, again)
    }

    /// Puts events before all waiting ones.
    private mutating func putBack(_ tickets: [Ticket]) {
        self.waiting.prepend(contentsOf: tickets)
        self.waitingByteCount += tickets.reduce(0) { $0 + $1.requestByteCount }
        self.hurriedCount += tickets.count
    }

    /// Delays new requests as the server asked, and by up to half as long again, so that senders do
    /// not return all at once.
    private mutating func delay(_ asked: Duration, now: Duration) {
        let bounded = min(max(asked, Self.retryDelays.lowerBound), Self.retryDelays.upperBound)
        let time = now + bounded * (1 + self.jitter() / 2)
        self.retryTime = max(self.retryTime ?? time, time)
    }
}
