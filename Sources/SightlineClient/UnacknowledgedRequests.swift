package import SightlineProtos
internal import SwiftProtobuf

/// The events that are read but not settled: waiting ones, and those in unacknowledged requests. A
/// pure state machine, without clock, task or connection: it tells SendSession what to do.
package struct UnacknowledgedRequests: Sendable {
    /// The next action on a stream.
    package enum Step: Sendable {
        /// Write this request.
        case write(Sightline_V1_StreamEventsRequest)
        /// Report an event that exceeds every request; it was not sent.
        case report(EventOutcome)
        /// Wait for an answer or an event, or until the given time.
        case wait(until: ContinuousClock.Instant?)
        /// Half-close the stream, and read until the server ends it.
        case finish
    }

    /// The minimum delay before events are sent again, even if the server asks for less.
    package static let minRetryDelay: Duration = .milliseconds(100)
    /// The maximum delay that the client honours.
    package static let maxRetryDelay: Duration = .seconds(30)

    /// The number of requests written on more than one stream.
    package private(set) var resentRequestCount = 0
    /// When an event last got its final verdict; nil while nothing is unsettled.
    package private(set) var stalledSince: ContinuousClock.Instant?
    /// Whether the source has ended and every event has its final verdict.
    package var isDone: Bool { self.sourceHasEnded && self.unsettledCount == 0 }
    /// The number of events without a final verdict.
    package var unsettledCount: Int { self.batcher.waiting.count + self.pendingEventCount }
    /// Whether another event may be added.
    package var hasRoom: Bool { self.batcher.hasRoom }

    private let ownLimits: RequestLimits
    private var limits: RequestLimits
    private var batcher: Batcher
    private var pending: [PendingRequest] = []
    private var pendingEventCount = 0
    private var nextSequence: UInt64 = 1
    private var highestWritten: UInt64 = 0
    private var sourceHasEnded = false
    private var retryMoment: ContinuousClock.Instant?

    // How many of `pending`, from the front, were written on the current stream.
    private var writtenCount = 0
    private var hasWritten = false
    private var hasAnswer = false
    private var isClosing = false

    /// Creates an empty state; `limits` apply until the server's tighten them.
    package init(limits: RequestLimits = RequestLimits()) {
        self.ownLimits = limits
        self.limits = limits
        self.batcher = Batcher(limits: limits)
    }

    /// Adds an event. Check `hasRoom` first, which bounds the memory.
    package mutating func add(_ event: OutgoingEvent, now: ContinuousClock.Instant) {
        self.batcher.add(event)
        self.stalledSince = self.stalledSince ?? now
    }

    /// Marks the end of the source.
    package mutating func endSource() {
        self.sourceHasEnded = true
    }

    /// Starts a new stream: all unsettled requests are sent again, in order, with their sequences.
    package mutating func openStream() {
        self.writtenCount = 0
        self.hasWritten = false
        self.hasAnswer = false
        self.isClosing = false
        self.limits = self.ownLimits
        self.batcher.limits = self.ownLimits
        for place in self.pending.indices {
            self.pending[place].forgetResults()
        }
    }

    /// Ends the stream: its writer must stop.
    package mutating func endStream() {
        self.isClosing = true
    }

    /// The next action of the stream's writer.
    package mutating func nextStep(now: ContinuousClock.Instant) -> Step {
        if self.isClosing || self.isDone { return .finish }
        guard self.writtenCount < self.window else { return .wait(until: nil) }
        if self.writtenCount < self.pending.count {
            return self.writeNext()
        }
        if let moment = self.retryMoment {
            guard now >= moment else { return .wait(until: moment) }
            self.retryMoment = nil
        }
        // With nothing in flight, send a partial batch, so that no event waits for a timer.
        switch self.batcher.take(flush: self.sourceHasEnded || self.pending.isEmpty) {
        case .none:
            return .wait(until: nil)
        case .tooLarge(let event):
            return self.refuse(event, now: now)
        case .events(let events):
            self.pending.append(PendingRequest(sequence: self.nextSequence, events: events))
            self.pendingEventCount += events.count
            self.nextSequence += 1
            return self.writeNext()
        }
    }

    /// Processes an answer; returns the events that now have a final verdict.
    package mutating func receive(
        _ response: Sightline_V1_StreamEventsResponse, now: ContinuousClock.Instant
    ) -> [EventOutcome] {
        self.hasAnswer = true
        if response.hasLimits {
            self.limits = self.ownLimits.tightened(by: response.limits)
            self.batcher.limits = self.limits
        }
        if response.hasClosing {
            self.isClosing = true
        }
        for result in response.results {
            let place = self.pending.prefix(self.writtenCount)
                .firstIndex { $0.sequence == result.sequence }
            if let place { self.pending[place].keep(result) }
        }
        return self.settle(response, now: now)
    }

    /// A single request until the first answer tells the server's limits.
    private var window: Int { self.hasAnswer ? self.limits.maxUnacknowledgedRequests : 1 }

    private mutating func writeNext() -> Step {
        let next = self.pending[self.writtenCount]
        var request = Sightline_V1_StreamEventsRequest()
        request.sequence = next.sequence
        request.events = next.events.map(\.event)
        if !self.hasWritten {
            request.options.reportAccepted = true
        }
        if next.sequence <= self.highestWritten {
            self.resentRequestCount += 1
        }
        self.highestWritten = max(self.highestWritten, next.sequence)
        self.hasWritten = true
        self.writtenCount += 1
        return .write(request)
    }

    /// Removes requests up to the watermark, if they were written on this stream: a server cannot
    /// have settled a request that it was not sent.
    private mutating func settle(
        _ response: Sightline_V1_StreamEventsResponse, now: ContinuousClock.Instant
    ) -> [EventOutcome] {
        var outcomes: [EventOutcome] = []
        var again: [OutgoingEvent] = []
        var mustWait = false
        let settled = self.pending.prefix(self.writtenCount)
            .prefix { $0.sequence <= response.durableSequence }
        for request in settled {
            let part = request.settle(limits: self.limits)
            outcomes += part.outcomes
            again += part.again
            mustWait = mustWait || (!part.again.isEmpty && !part.isSplit)
            self.pendingEventCount -= request.events.count
        }
        self.writtenCount -= settled.count
        self.pending.removeFirst(settled.count)
        self.batcher.putBack(again)
        if mustWait {
            let asked = response.hasRetryDelay ? Duration(response.retryDelay) : .zero
            let delay = min(max(asked, Self.minRetryDelay), Self.maxRetryDelay)
            self.retryMoment = max(self.retryMoment ?? now, now + delay)
        }
        self.noteProgress(outcomes.count, now: now)
        return outcomes
    }

    private mutating func noteProgress(_ count: Int, now: ContinuousClock.Instant) {
        if self.unsettledCount == 0 {
            self.stalledSince = nil
        } else if count > 0 {
            self.stalledSince = now
        }
    }

    private mutating func refuse(_ event: OutgoingEvent, now: ContinuousClock.Instant) -> Step {
        var violation = Sightline_V1_FieldViolation()
        violation.code = .tooLarge
        violation.description_p =
            "the event takes \(event.requestByteCount) bytes and a request may hold "
            + "\(self.limits.maxRequestBytes) with \(RequestLimits.requestOverheadByteCount) of "
            + "its own; it was not sent, make it smaller"
        let result = Sightline_V1_EventResult.with {
            $0.eventID = event.event.eventID
            $0.verdict = .rejected
            $0.violations = [violation]
        }
        self.noteProgress(1, now: now)
        return .report(EventOutcome(origin: event.origin, result: result))
    }
}
