// A model of the server, and random histories of an outbox against it: cuts, refusals, closings,
// and answers at any time. Its clock is a number.
internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport

/// One random history. The event ids of `recorded` are durable.
struct OutboxHistory {
    /// A client with a bug, to see that the histories find it.
    enum Plant: CaseIterable {
        case goesOnAfterACut, keepsOldResults, ignoresClosing, trustsTheWatermark
        case takesRetryLaterAsDone, retriesAtOnce, ignoresTheWindow, halfClosesWhenIdle
        case ignoresLimits, losesAnswers
    }

    private struct Request {
        let sequence: UInt64
        let ids: [String]
        let byteCount: Int
    }

    /// One stream as the server sees it.
    private struct Stream {
        let limits: RequestLimits
        var requests: [Request] = []
        var judged: [(sequence: UInt64, results: [Sightline_V1_EventResult])] = []
        var answers: [Sightline_V1_StreamEventsResponse] = []
        var lastSequence: UInt64 = 0
        var watermark: UInt64 = 0
        var written: [UInt64] = []
        var hasWritten = false
        var toldLimits = false
        var heardLimits = false
        var heardClosing = false
        var isHalfClosed = false
    }

    private static let retryDelay: Duration = .seconds(2)

    private let plant: Plant?
    private let own: RequestLimits
    private var dice: Dice
    private var now: Duration = .zero
    private var outbox: Outbox
    private var isFull = false
    private var recorded: Set<String> = []
    private var added: [String] = []
    private var verdicts: [String: Sightline_V1_Verdict] = [:]
    private var idsBySequence: [UInt64: [String]] = [:]
    private var notBefore: Duration = .zero
    private var stream: Stream?
    private var hasOpened = false

    init(seed: UInt64, plant: Plant? = nil) {
        var dice = Dice(seed: seed)
        self.plant = plant
        self.own = RequestLimits(
            maxEvents: 1 + dice.below(8), maxRequestBytes: dice.pick([60, 200, 1000]),
            maxUnacknowledgedRequests: 1 + dice.below(6))
        let jitter = Double(dice.below(100)) / 100
        var limits = self.own
        if plant == .ignoresTheWindow { limits.maxUnacknowledgedRequests += 1 }
        self.outbox = Outbox(
            limits: limits, linger: dice.pick([.zero, .milliseconds(500)]),
            answerTimeout: .seconds(120), jitter: { jitter })
        self.dice = dice
    }

    /// Anything may happen for a while; then the server is well, and all must be settled.
    mutating func run() throws {
        for _ in 0..<150 {
            switch self.dice.below(10) {
            case 0: try self.add()
            case 1, 2: try self.write()
            case 3, 4: try self.take()
            case 5: self.answer()
            case 6, 7: try self.hear()
            case 8: self.now += .milliseconds(self.dice.below(3000))
            default: self.rarely()
            }
        }
        self.isFull = false
        self.outbox.finish()
        var roundCount = 0
        while !self.outbox.isDone, roundCount < 2000 {
            roundCount += 1
            if self.stream?.heardClosing != false { self.open() }
            try self.write()
            try self.take()
            self.answer()
            try self.hear()
            self.now += .milliseconds(500)
        }
        try BrokenRule.require(
            Set(self.verdicts.keys) == Set(self.added), "every event gets a verdict")
        try BrokenRule.require(
            self.outbox.count == 0 && self.outbox.byteCount == 0, "nothing is left")
    }

    private mutating func add() throws {
        let id = (self.dice.chance(25) ? "i" : "g") + "\(self.added.count)"
        self.added.append(id)
        let event = Sightline_V1_TrackingEvent.with {
            $0.eventID = id
            $0.appID = String(repeating: "a", count: self.dice.below(80))
        }
        let ticket = Ticket(
            number: UInt64(self.added.count), bytes: try event.serializedBytes())
        _ = self.outbox.add(ticket, now: self.now)
    }

    private mutating func open() {
        let limits = RequestLimits(
            maxEvents: 1 + self.dice.below(10), maxRequestBytes: self.dice.pick([0, 80, 500]),
            maxUnacknowledgedRequests: 1 + self.dice.below(8))
        self.stream = Stream(limits: limits)
        if !(self.plant == .goesOnAfterACut && self.hasOpened) {
            self.outbox.openStream(now: self.now)
        }
        self.hasOpened = true
        guard self.dice.chance(50) else { return }
        let message = self.message()
        self.stream?.answers.append(message)
    }

    private mutating func rarely() {
        switch self.dice.below(12) {
        case 0: self.stream = nil  // A cut: what is under way is lost, in both directions.
        case 1: self.isFull.toggle()
        case 2 where self.stream != nil:
            var message = self.message()
            message.closing.grace.seconds = 1
            self.stream?.answers.append(message)
        case 3: self.outbox.hurry()
        default: break
        }
    }

    private mutating func write() throws {
        guard let stream = self.stream else { return self.open() }
        guard !stream.isHalfClosed else { return }
        let time = self.plant == .retriesAtOnce ? self.now + .seconds(60) : self.now
        var step = self.outbox.nextStep(now: time)
        if self.plant == .halfClosesWhenIdle, step.isWait, self.outbox.count == 0 {
            step = .halfClose
        }
        switch step {
        case .halfClose:
            try BrokenRule.require(
                stream.heardClosing || self.outbox.isDone, "no half-close before the end")
            self.stream?.isHalfClosed = true
        case .write(let request):
            try self.check(request)
        case .wait(until: let time):
            try BrokenRule.require(
                time != nil || self.outbox.count == 0 || !stream.written.isEmpty,
                "with nothing under way, something is to be sent")
        }
    }

    private mutating func check(_ request: OutboxRequest) throws {
        guard let stream = self.stream else { return }
        let ids = request.tickets.map(\.id)
        try BrokenRule.require(!stream.heardClosing, "nothing is sent after closing")
        if let known = self.idsBySequence[request.sequence] {
            try BrokenRule.require(known == ids, "a sequence stands for the same events always")
        } else {
            try BrokenRule.require(
                self.now >= self.notBefore, "a retry waits as long as the server asks")
            try BrokenRule.require(
                ids.count <= self.own.maxEvents, "no more events than a request may have")
        }
        try BrokenRule.require(
            ids.allSatisfy { self.verdicts[$0] == nil }, "what is settled is not sent")
        try BrokenRule.require(
            request.isFirst == !stream.hasWritten, "the first request of a stream has the options")
        self.stream?.hasWritten = true
        self.idsBySequence[request.sequence] = ids
        let most = min(self.own.maxUnacknowledgedRequests, stream.limits.maxUnacknowledgedRequests)
        let unacknowledged = stream.written.count + 1
        try BrokenRule.require(
            unacknowledged <= (stream.heardLimits ? most : 1),
            "no more requests under way than allowed")
        self.stream?.written.append(request.sequence)
        self.stream?.requests.append(
            Request(sequence: request.sequence, ids: ids, byteCount: request.byteCount))
    }

    /// The server reads a request.
    private mutating func take() throws {
        guard var stream = self.stream, !stream.requests.isEmpty else { return }
        let request = stream.requests.removeFirst()
        try BrokenRule.require(request.sequence > stream.lastSequence, "sequences rise")
        stream.lastSequence = request.sequence
        let most = stream.limits.maxRequestBytes
        let isTooLarge =
            request.ids.count > stream.limits.maxEvents
            || request.ids.count > 1 && most > 0 && request.byteCount > most
        var results: [Sightline_V1_EventResult] = []
        if isTooLarge {
            results = [TestAnswers.result(request.sequence, nil, .rejected)]
        } else if self.isFull {
            results = [TestAnswers.result(request.sequence, nil, .retryLater)]
        } else {
            for (index, id) in request.ids.enumerated() {
                guard let verdict = self.judge(id) else { continue }
                results.append(TestAnswers.result(request.sequence, UInt32(index), verdict))
            }
        }
        stream.judged.append((request.sequence, results))
        self.stream = stream
    }

    /// Nil for an accepted event.
    private mutating func judge(_ id: String) -> Sightline_V1_Verdict? {
        if self.recorded.contains(id) { return .duplicate }
        if id.hasPrefix("i") { return .rejected }
        if self.dice.chance(5) { return .retryLater }
        self.recorded.insert(id)
        return nil
    }

    private mutating func message() -> Sightline_V1_StreamEventsResponse {
        var message = Sightline_V1_StreamEventsResponse()
        guard let stream = self.stream else { return message }
        message.durableSequence = stream.watermark
        if !stream.toldLimits {
            message.limits.maxEvents = UInt32(stream.limits.maxEvents)
            message.limits.maxRequestBytes = UInt32(stream.limits.maxRequestBytes)
            message.limits.maxUnacknowledgedRequests = UInt32(
                stream.limits.maxUnacknowledgedRequests)
            self.stream?.toldLimits = true
        }
        return message
    }

    /// The server tells of some of what it has judged.
    private mutating func answer() {
        guard let judged = self.stream?.judged, !judged.isEmpty else { return }
        let count = 1 + self.dice.below(judged.count)
        self.stream?.judged.removeFirst(count)
        self.stream?.watermark = judged[count - 1].sequence
        var message = self.message()
        message.results = judged[..<count].flatMap(\.results)
        if message.results.contains(where: { $0.verdict == .retryLater }) {
            message.retryDelay.seconds = Self.retryDelay.components.seconds
        }
        self.stream?.answers.append(message)
    }

    /// The client reads an answer; a closing server ends the stream after the last.
    private mutating func hear() throws {
        guard var stream = self.stream else { return }
        guard !stream.answers.isEmpty else {
            if stream.heardClosing { self.stream = nil }
            return
        }
        let answer = stream.answers.removeFirst()
        stream.heardLimits = stream.heardLimits || answer.hasLimits
        stream.heardClosing = stream.heardClosing || answer.hasClosing
        stream.written.removeAll { $0 <= answer.durableSequence }
        self.stream = stream
        if answer.hasRetryDelay { self.notBefore = max(self.notBefore, self.now + Self.retryDelay) }
        let isLost = self.plant == .losesAnswers && self.dice.chance(10)
        if isLost { return }
        for (ticket, result) in self.outbox.receive(self.tampered(answer), now: self.now) {
            let verdict = result?.verdict ?? .accepted
            let expected: Set<Sightline_V1_Verdict> =
                ticket.id.hasPrefix("i") ? [.rejected] : [.accepted, .duplicate]
            try BrokenRule.require(expected.contains(verdict), "a verdict is its own event's")
            try BrokenRule.require(
                self.verdicts.updateValue(verdict, forKey: ticket.id) == nil, "one verdict each")
            try BrokenRule.require(
                ticket.id.hasPrefix("i") || self.recorded.contains(ticket.id),
                "what is settled is durable")
        }
    }

    /// What a client with a bug makes of an answer.
    private func tampered(
        _ answer: Sightline_V1_StreamEventsResponse
    ) -> Sightline_V1_StreamEventsResponse {
        var answer = answer
        switch self.plant {
        case .ignoresClosing: answer.clearClosing()
        case .trustsTheWatermark: answer.durableSequence = .max
        case .takesRetryLaterAsDone: answer.results.removeAll { $0.verdict == .retryLater }
        case .ignoresLimits: answer.limits.maxEvents = 0
        case .keepsOldResults:
            if let last = answer.results.last { answer.results.append(last.shifted) }
        default: break
        }
        return answer
    }
}
