internal import SightlineProtos

/// A scenario under way: its streams, what is recorded, and the transcript. Pure, as its streams.
struct ScenarioState: Sendable {
    let scenario: Scenario
    let eventCount: Int
    private(set) var transcript = Transcript()
    private var recorded: RecordedEvents
    private var streams: [StreamState] = []
    private var reportsAccepted: Set<Int> = []
    /// When somebody listens again; nil while an absence waits for its first connection.
    private var absenceEnd: Duration?

    init(_ scenario: Scenario, eventCount: Int) {
        self.scenario = scenario
        self.eventCount = eventCount
        self.recorded = RecordedEvents(scenario.verdicts)
        self.absenceEnd = scenario.absence > .zero ? nil : .zero
    }

    /// What is to be done with a stream.
    enum Step: Sendable {
        case nothing
        case write(Answer)
        case goAway
        case end(StreamEnd)
    }

    /// Notes a connection.
    ///
    /// - Returns: whether anybody listens.
    mutating func connect(at now: Duration) -> Bool {
        let absenceEnd = self.absenceEnd ?? now + self.scenario.absence
        self.absenceEnd = absenceEnd
        let isAway = now < absenceEnd
        self.transcript.note(.connected(isAway: isAway), at: now)
        return !isAway
    }

    /// Opens a stream; returns its number, from 0, and why it ends at once, if it does.
    mutating func open(hasKey: Bool, at now: Duration) -> (stream: Int, refusal: Refusal?) {
        let stream = self.streams.count
        let plan = self.scenario.plan(stream)
        self.streams.append(StreamState(plan))
        self.transcript.note(.opened(stream: stream, hasKey: hasKey), at: now)
        let refusal = self.scenario.needsKey && !hasKey ? Refusal.credentials : plan.refusal
        if let refusal {
            self.streams[stream].isOver = true
            self.transcript.note(.ended(stream: stream, .status(refusal)), at: now)
        }
        return (stream, refusal)
    }

    mutating func receive(
        _ message: Sightline_V1_StreamEventsRequest, bytes: Int, on stream: Int, at now: Duration
    ) {
        guard !self.streams[stream].isOver else { return }
        let ids = message.events.map(\.eventID)
        let numbers = message.events.map { TestEvent.number($0, count: self.eventCount) }
        let request = ReceivedRequest(
            sequence: message.sequence, ids: ids, bytes: bytes,
            foreign: zip(ids, numbers).filter { $0.1 == nil }.map(\.0))
        self.transcript.note(.received(stream: stream, request), at: now)
        if message.options.reportAccepted { self.reportsAccepted.insert(stream) }
        self.streams[stream].receive(request, numbers: numbers, at: now)
    }

    mutating func halfClose(_ stream: Int, at now: Duration) {
        guard !self.streams[stream].isOver else { return }
        self.transcript.note(.halfClosed(stream: stream), at: now)
        self.streams[stream].halfClose(at: now)
    }

    /// The client, or its connection, has ended a stream.
    mutating func lose(_ stream: Int, at now: Duration) {
        guard !self.streams[stream].isOver else { return }
        self.streams[stream].isOver = true
        self.transcript.note(.ended(stream: stream, .client), at: now)
    }

    /// Whether GOAWAY was sent to a stream's connection.
    func isGoingAway(_ stream: Int) -> Bool { self.streams[stream].isGoingAway }

    func isOver(_ stream: Int) -> Bool { self.streams[stream].isOver }

    mutating func hear(_ line: ClientLine, at now: Duration) {
        self.transcript.note(.said(line), at: now)
    }

    mutating func exit(_ code: Int32?, at now: Duration) {
        self.transcript.note(.exited(code), at: now)
    }

    /// What is due on a stream. It is in the transcript before it is done: so nothing that a client
    /// does because of it comes earlier.
    mutating func step(_ stream: Int, at now: Duration) -> Step {
        switch self.streams[stream].step(at: now) {
        case .nothing: return .nothing
        case .goAway: return .goAway
        case .greet(let answer): return self.write(answer, on: stream, at: now)
        case .announceClosing(let grace):
            let watermark = self.streams[stream].watermark
            let answer = Answer(watermark: watermark, closingGrace: grace)
            return self.write(answer, on: stream, at: now)
        case .settle(let requests):
            let told = requests.flatMap { self.judge($0, self.streams[stream].plan) }
            let isLater = told.contains { $0.verdict == .retryLater }
            let answer = Answer(
                watermark: self.streams[stream].watermark, told: told,
                retryDelay: isLater ? self.scenario.retryDelay : nil)
            return self.write(answer, on: stream, at: now)
        case .end(let end, let isRecorded, let absence):
            if isRecorded {
                for number in self.streams[stream].unanswered.flatMap(\.numbers) {
                    _ = self.recorded.judge(number)
                }
            }
            if absence > .zero { self.absenceEnd = now + absence }
            self.transcript.note(.ended(stream: stream, end), at: now)
            if end == .cut { self.cutOthers(at: now) }
            return .end(end)
        }
    }

    /// A cut is of the server, not of one connection.
    private mutating func cutOthers(at now: Duration) {
        for stream in self.streams.indices where !self.streams[stream].isOver {
            self.streams[stream].isOver = true
            self.transcript.note(.ended(stream: stream, .cut), at: now)
        }
    }

    private mutating func write(_ answer: Answer, on stream: Int, at now: Duration) -> Step {
        self.transcript.note(.answered(stream: stream, answer), at: now)
        return .write(answer)
    }

    private mutating func judge(_ pending: StreamState.Pending, _ plan: StreamPlan) -> [Answer.Told]
    {
        let request = pending.request
        let isBeyond =
            request.ids.count > plan.limits.maxEvents
            || request.bytes > plan.limits.maxRequestBytes
        if isBeyond || pending.place == plan.refusedRequest {
            return request.ids.map {
                Answer.Told(
                    id: $0, verdict: .rejected, sequence: request.sequence,
                    mayComeAgain: isBeyond)
            }
        }
        return zip(request.ids, pending.numbers).enumerated().map { index, event in
            Answer.Told(
                id: event.0, verdict: self.recorded.judge(event.1), sequence: request.sequence,
                index: UInt32(index))
        }
    }

    /// Whether a stream's answers tell of accepted events too.
    func isReporting(_ stream: Int) -> Bool { self.reportsAccepted.contains(stream) }
}
