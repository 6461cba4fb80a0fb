internal import SightlineProtos

/// One stream as the server has it: what came, what is answered, and what is due next. Pure: time
/// is given, and what is to be done is returned.
struct StreamState: Sendable {
    /// What is due.
    enum Step: Sendable {
        case nothing
        case greet(Answer)
        /// These requests are settled, in one answer.
        case settle([Pending])
        case announceClosing(grace: Duration)
        case goAway
        case end(StreamEnd, isRecorded: Bool, absence: Duration)
    }

    /// A request without its answer.
    struct Pending: Sendable {
        let request: ReceivedRequest
        /// The events' numbers; nil of one that nobody gave to the client.
        let numbers: [Int?]
        /// The request's number in its stream, from 1.
        let place: Int
        let time: Duration
    }

    /// How long the server withholds answers before it ends a stream: a client's window fills.
    private static let patience = Duration.milliseconds(300)
    /// How long an answer waits for further requests that it is to settle too.
    private static let quiet = Duration.milliseconds(100)
    /// How long OK takes after the last answer.
    private static let okDelay = Duration.milliseconds(100)

    let plan: StreamPlan
    private(set) var watermark: UInt64
    private var pending: [Pending] = []
    private var lastSequence: UInt64 = 0
    private var received = 0
    private var answered = 0
    private var isGreeted = false
    private var hasWrongSequence = false
    private var closingEnd: Duration?
    private var goAwayTime: Duration?
    private var halfCloseTime: Duration?
    private var lastAnswerTime = Duration.zero
    var isOver = false

    init(_ plan: StreamPlan) {
        self.plan = plan
        self.watermark = plan.firstWatermark
    }

    mutating func receive(_ request: ReceivedRequest, numbers: [Int?], at now: Duration) {
        self.hasWrongSequence = self.hasWrongSequence || request.sequence <= self.lastSequence
        if self.hasWrongSequence { return }
        self.lastSequence = request.sequence
        self.received += 1
        self.pending.append(
            Pending(request: request, numbers: numbers, place: self.received, time: now))
    }

    mutating func halfClose(at now: Duration) { self.halfCloseTime = now }

    /// What was received and has no answer.
    var unanswered: [Pending] { self.pending }

    /// Whether GOAWAY was sent.
    var isGoingAway: Bool { self.goAwayTime != nil }

    /// What is due now.
    mutating func step(at now: Duration) -> Step {
        if self.isOver { return .nothing }
        if !self.isGreeted {
            self.isGreeted = true
            return .greet(Answer(watermark: self.watermark, limits: self.plan.limits))
        }
        if let end = self.plan.end, let step = self.plannedStep(end, at: now) { return step }
        if let due = self.dueRequests(at: now) { return self.settle(due, at: now) }
        if self.hasWrongSequence {
            return self.end(.status(.sequence))
        }
        guard let halfCloseTime, self.pending.isEmpty,
            now - max(halfCloseTime, self.lastAnswerTime) >= Self.okDelay
        else { return .nothing }
        return self.end(.ok)
    }

    /// The step of a stream that the server ends; nil if it goes on as others do.
    private mutating func plannedStep(_ end: PlannedEnd, at now: Duration) -> Step? {
        guard self.answered >= end.answers, !self.hasWrongSequence else { return nil }
        if case .closing(let grace) = end.manner {
            guard let closingEnd else {
                self.closingEnd = now + grace
                return .announceClosing(grace: grace)
            }
            // Answers wait for the half-close, so that a client which goes on cannot get by.
            guard self.halfCloseTime == nil else { return nil }
            return now >= closingEnd ? self.end(.status(.closing)) : .nothing
        }
        if let goAwayTime {
            return now - goAwayTime >= Self.patience ? self.end(.cut) : .nothing
        }
        // A client that has nothing under way, and has ended, is let go.
        guard let first = self.pending.first else { return nil }
        guard now - first.time >= Self.patience else { return .nothing }
        switch end.manner {
        case .cut(let isRecorded, let absence):
            return self.end(.cut, isRecorded: isRecorded, absence: absence)
        case .goAway:
            self.goAwayTime = now
            return .goAway
        case .status(let refusal): return self.end(.status(refusal))
        case .closing: return nil
        }
    }

    private mutating func end(
        _ end: StreamEnd, isRecorded: Bool = false, absence: Duration = .zero
    ) -> Step {
        self.isOver = true
        return .end(end, isRecorded: isRecorded, absence: absence)
    }

    /// The requests that the next answer settles; nil if none is due.
    private func dueRequests(at now: Duration) -> [Pending]? {
        guard let first = self.pending.first else { return nil }
        let waited = now - first.time
        guard waited >= self.plan.answerDelay else { return nil }
        let isLast = self.halfCloseTime != nil || self.hasWrongSequence
        let isEnough = self.pending.count >= self.plan.requestsPerAnswer || isLast
        guard isEnough || waited >= self.plan.answerDelay + Self.quiet else { return nil }
        return Array(self.pending.prefix(self.plan.requestsPerAnswer))
    }

    private mutating func settle(_ due: [Pending], at now: Duration) -> Step {
        self.pending.removeFirst(due.count)
        self.answered += due.count
        self.lastAnswerTime = now
        self.watermark = max(self.watermark, due.last?.request.sequence ?? 0)
        return .settle(due)
    }
}
