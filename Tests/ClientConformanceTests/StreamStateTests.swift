// What the scripted server does with a stream: it keeps the contract, and then makes it hard.
internal import Foundation
internal import SightlineProtos
internal import Testing
@testable internal import ClientConformance

/// The pages of docs.
enum Pages {
    static func text(_ name: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "docs/\(name)"), encoding: .utf8)
    }
}

struct StreamStateTests {
    /// A stream that has been greeted, and steps in words.
    private struct Stream {
        var state: StreamState
        var now = Duration.zero

        init(_ plan: StreamPlan = StreamPlan()) {
            self.state = StreamState(plan)
            _ = self.state.step(at: .zero)
        }

        mutating func send(_ sequences: UInt64...) {
            for sequence in sequences {
                let request = ReceivedRequest(sequence: sequence, ids: ["a"], bytes: 10)
                self.state.receive(request, numbers: [0], at: self.now)
            }
        }

        mutating func after(_ milliseconds: Int) -> String {
            self.now += .milliseconds(milliseconds)
            switch self.state.step(at: self.now) {
            case .nothing: return "nothing"
            case .greet: return "greet"
            case .settle(let requests): return "settle \(requests.map(\.request.sequence))"
            case .announceClosing: return "closing"
            case .goAway: return "goaway"
            case .end(.ok, _, _): return "ok"
            case .end(.cut, let isRecorded, _): return isRecorded ? "cut, recorded" : "cut"
            case .end(.status(let refusal), _, _): return refusal.reason ?? "no reason"
            case .end(.client, _, _): return "client"
            }
        }
    }

    @Test("the limits come first, and once")
    func greeting() {
        var state = StreamState(StreamPlan())
        guard case .greet(let answer) = state.step(at: .zero) else {
            Issue.record("no greeting")
            return
        }
        #expect(answer.limits == ToldLimits() && answer.watermark == 0)
        guard case .nothing = state.step(at: .seconds(9)) else {
            Issue.record("more than a greeting")
            return
        }
    }

    @Test("requests are settled in order, and OK follows the last answer")
    func ordinary() {
        var stream = Stream()
        stream.send(1, 4)
        #expect(stream.after(0) == "settle [1]")
        stream.state.halfClose(at: stream.now)
        #expect(stream.after(0) == "settle [4]")
        #expect(stream.state.watermark == 4)
        #expect(stream.after(99) == "nothing")
        #expect(stream.after(1) == "ok")
        #expect(stream.after(1) == "nothing")
    }

    @Test(
        "a wrong sequence ends the stream after an answer to what came before", arguments: [0, 2])
    func wrongSequence(wrong: UInt64) {
        var stream = Stream()
        stream.send(2, wrong, 3)
        #expect(stream.after(0) == "settle [2]")
        #expect(stream.after(0) == "SEQUENCE_NOT_RISING")
    }

    @Test("an answer waits for its delay, and for others that it settles too")
    func batches() {
        var stream = Stream(StreamPlan(answerDelay: .milliseconds(50), requestsPerAnswer: 3))
        stream.send(1, 2)
        #expect(stream.after(50) == "nothing")
        stream.send(3, 4)
        #expect(stream.after(0) == "settle [1, 2, 3]")
        #expect(stream.after(149) == "nothing")
        #expect(stream.after(1) == "settle [4]")
    }

    @Test("an end comes when answers were withheld for a while, with what was recorded")
    func plannedEnds() {
        for (manner, word) in [
            (.cut(isRecorded: true, absence: .zero), "cut, recorded"),
            (.cut(isRecorded: false, absence: .zero), "cut"), (.status(.proxy), "no reason"),
            (.goAway, "goaway"),
        ] as [(PlannedEnd.Manner, String)] {
            var stream = Stream(StreamPlan(end: PlannedEnd(answers: 1, manner: manner)))
            #expect(stream.after(1000) == "nothing")
            stream.send(1, 2, 3)
            #expect(stream.after(0) == "settle [1]")
            #expect(stream.after(299) == "nothing")
            #expect(stream.after(1) == word)
            #expect(stream.state.unanswered.map(\.request.sequence) == [2, 3])
            if word == "goaway" {
                #expect(stream.after(299) == "nothing")
                #expect(stream.after(1) == "cut")
            }
        }
    }

    @Test("closing gives its grace: answers and OK for who half-closes, SERVER_CLOSING for others")
    func closing() {
        for halfCloses in [true, false] {
            let end = PlannedEnd(answers: 1, manner: .closing(grace: .seconds(2)))
            var stream = Stream(StreamPlan(end: end))
            stream.send(1, 2)
            #expect(stream.after(0) == "settle [1]")
            #expect(stream.after(0) == "closing")
            #expect(stream.after(1999) == "nothing")
            if halfCloses {
                stream.state.halfClose(at: stream.now)
                #expect(stream.after(1) == "settle [2]")
                #expect(stream.after(100) == "ok")
            } else {
                #expect(stream.after(1) == "SERVER_CLOSING")
            }
        }
    }

    @Test("a request beyond the limits is refused as a whole, and so is one that the plan names")
    func wholeRequests() throws {
        var plan = StreamPlan(refusedRequest: 2)
        plan.limits.maxEvents = 2
        var state = ScenarioState(
            Scenario("test", "").with { [plan] in $0.streams = [plan] }, eventCount: 9)
        _ = state.open(hasKey: true, at: .zero)
        let told = try [[0, 1], [2], [3, 4, 5]].enumerated().map { index, numbers in
            var request = Sightline_V1_StreamEventsRequest()
            request.sequence = UInt64(index + 1)
            request.events = numbers.map(TestEvent.event)
            state.receive(request, bytes: 10, on: 0, at: .zero)
            if index == 0 { _ = state.step(0, at: .zero) }
            guard case .write(let answer) = state.step(0, at: .zero) else {
                throw CancellationError()
            }
            return answer.told
        }
        #expect(told[0].map(\.verdict) == [.accepted, .accepted])
        #expect(told[0].map(\.index) == [0, 1])
        #expect(told[1].map(\.index) == [nil] && told[1].map(\.mayComeAgain) == [false])
        #expect(told[2].map(\.verdict) == [.rejected, .rejected, .rejected])
        #expect(told[2].map(\.index) == [nil, nil, nil] && told[2].allSatisfy(\.mayComeAgain))
    }

    @Test("a fact counts once, and what was refused may count later")
    func recordedEvents() {
        var events = RecordedEvents(.later(times: 1))
        #expect(events.judge(4) == .retryLater && events.judge(4) == .accepted)
        #expect(events.judge(4) == .duplicate)
        #expect(events.judge(5) == .accepted && events.judge(5) == .duplicate)
    }

    @Test(
        "a client's line is a result in proto3 JSON, or the list of what is left",
        arguments: [
            (#"{"event_id": "a", "verdict": 1}"#, .verdict(id: "a", .accepted)),
            (
                #"{"eventId":"a","verdict":"VERDICT_DUPLICATE","x":1}"#,
                .verdict(id: "a", .duplicate)
            ),
            (#"{"event_id": "a", "verdict": 42}"#, .verdict(id: "a", .UNRECOGNIZED(42))),
            (#"{"unacknowledged": ["a", "b"]}"#, .unacknowledged(["a", "b"])),
            (#"{"event_id": "a"}"#, .unreadable(#"{"event_id": "a"}"#)),
            (#"{"verdict": 1}"#, .unreadable(#"{"verdict": 1}"#)), ("hello", .unreadable("hello")),
        ] as [(String, ClientLine)])
    func lines(line: String, expected: ClientLine) {
        #expect(ClientLine(line) == expected)
    }

    @Test("an event that was changed is no event of the input; a trace of the client's own is none")
    func events() {
        for number in 7...8 {
            var event = TestEvent.event(number)
            event.traceContext.traceparent = "00-1-1-01"
            #expect(TestEvent.number(event, count: number + 1) == number)
            #expect(TestEvent.number(event, count: number) == nil)
            event.appID = "another"
            #expect(TestEvent.number(event, count: number + 1) == nil)
        }
        var send = TestEvent.event(8)
        send.pushSend.attempt += 1
        #expect(TestEvent.number(send, count: 9) == nil)
    }

    @Test("the events are of devices and of a sender, and what failed has its reason")
    func interactions() {
        let events = (0..<12).map(TestEvent.event)
        #expect(events.count { $0.trackAction.action == .open } == 8)
        let sends = events.map(\.pushSend).filter { $0.outcome != .unspecified }
        #expect(sends.map(\.outcome) == [.failed, .sent, .failed, .sent])
        #expect(sends.map(\.reason) == [.throttled, .unspecified, .throttled, .unspecified])
        #expect(Set(sends.map(\.broadlogID)).count == 4)
    }

    @Test("each scenario has a name of its own, and its row in docs/clients/conformance.md")
    func table() throws {
        let page = try Pages.text("clients/conformance.md")
        let names = Scenario.all.map(\.name)
        #expect(Set(names).count == names.count && names.count > 25)
        for name in names { #expect(page.contains("| `\(name)` |"), "\(name)") }
        #expect(page.components(separatedBy: "\n| `").count - 1 == names.count)
    }
}
