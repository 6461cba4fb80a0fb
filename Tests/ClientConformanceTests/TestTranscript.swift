// A scenario's course, written down step by step.
internal import SightlineProtos
@testable internal import ClientConformance

/// Notes what server and client do, each step 10 ms after the one before.
struct TestTranscript {
    private var transcript = Transcript()
    private var time = Duration.zero
    var scenario: Scenario
    let ids: [String]

    init(_ ids: [String], _ change: (inout Scenario) -> Void = { _ in }) {
        self.ids = ids
        self.scenario = Scenario("test", "").with(change)
    }

    mutating func pass(_ time: Duration) { self.time += time }

    mutating func note(_ event: Transcript.Event) {
        self.time += .milliseconds(10)
        self.transcript.note(event, at: self.time)
    }

    mutating func open(_ stream: Int = 0, hasKey: Bool = true) {
        self.note(.opened(stream: stream, hasKey: hasKey))
        self.note(.answered(stream: stream, Answer(watermark: 0, limits: ToldLimits())))
    }

    mutating func send(
        _ sequence: UInt64, _ ids: [String], on stream: Int = 0, bytes: Int = 100,
        foreign: [String] = []
    ) {
        let request = ReceivedRequest(
            sequence: sequence, ids: ids, bytes: bytes, foreign: foreign)
        self.note(.received(stream: stream, request))
    }

    mutating func answer(
        _ sequence: UInt64, _ told: [(String, Sightline_V1_Verdict)], on stream: Int = 0,
        delay: Duration? = nil
    ) {
        let told = told.map {
            Answer.Told(id: $0.0, verdict: $0.1, sequence: sequence, index: 0)
        }
        self.note(
            .answered(
                stream: stream, Answer(watermark: sequence, told: told, retryDelay: delay)))
    }

    mutating func say(_ id: String, _ verdict: Sightline_V1_Verdict = .accepted) {
        self.note(.said(.verdict(id: id, verdict)))
    }

    /// The client half-closes, gets OK, and ends.
    mutating func finish(_ stream: Int = 0) {
        self.note(.halfClosed(stream: stream))
        self.note(.ended(stream: stream, .ok))
        self.note(.exited(0))
    }

    var findings: [Finding] {
        Judge(scenario: self.scenario, ids: self.ids, transcript: self.transcript).findings
    }

    var faults: [String] { self.findings.map(\.fault) }
}
