// The client's memory, step by step: no task, no clock, no connection.
internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing

struct UnacknowledgedRequestsTests {
    private let start = ContinuousClock.now

    /// Requests of at most two events, and three under way.
    private func requests(_ count: Int) throws -> UnacknowledgedRequests {
        var requests = UnacknowledgedRequests(
            limits: RequestLimits(maxEvents: 2, maxUnacknowledgedRequests: 3))
        for event in try TestEvents.events(0..<count) {
            requests.add(event, now: self.start)
        }
        requests.openStream()
        return requests
    }

    /// All that may be written now.
    private func write(
        _ requests: inout UnacknowledgedRequests
    ) -> [Sightline_V1_StreamEventsRequest] {
        var written: [Sightline_V1_StreamEventsRequest] = []
        while let request = requests.nextStep(now: self.start).request {
            written.append(request)
        }
        return written
    }

    @Test("one request goes out before the limits are known, then as many as the window holds")
    func window() throws {
        var requests = try self.requests(10)
        #expect(self.write(&requests).map(\.sequence) == [1])
        _ = requests.receive(TestEvents.ack(0), now: self.start)
        #expect(self.write(&requests).map(\.sequence) == [2, 3])
        #expect(requests.nextStep(now: self.start).isWait)
        _ = requests.receive(TestEvents.ack(1), now: self.start)
        #expect(self.write(&requests).map(\.sequence) == [4])
        #expect(requests.nextStep(now: self.start).isWait)
    }

    @Test("the server's limits tighten the client's, and are forgotten with the stream")
    func serverLimits() throws {
        var requests = try self.requests(10)
        _ = self.write(&requests)
        var answer = TestEvents.ack(1)
        answer.limits.maxEvents = 1
        answer.limits.maxUnacknowledgedRequests = 2
        _ = requests.receive(answer, now: self.start)
        let written = self.write(&requests)
        #expect(written.map(\.events.count) == [1, 1])
        requests.openStream()
        _ = self.write(&requests)
        _ = requests.receive(TestEvents.ack(2), now: self.start)
        // What was built under the stricter limits keeps its form.
        #expect(self.write(&requests).map(\.events.count) == [1, 2, 2])
    }

    @Test("only the first request of a stream asks for the results of accepted events")
    func options() throws {
        var requests = try self.requests(10)
        #expect(self.write(&requests).map(\.options.reportAccepted) == [true])
        _ = requests.receive(TestEvents.ack(0), now: self.start)
        #expect(self.write(&requests).map(\.hasOptions) == [false, false])
        requests.openStream()
        #expect(self.write(&requests).map(\.options.reportAccepted) == [true])
    }

    @Test("after a break the same requests go again: same sequences, same order, same events")
    func resend() throws {
        var requests = try self.requests(10)
        var first = self.write(&requests)
        _ = requests.receive(TestEvents.ack(0), now: self.start)
        first += self.write(&requests)
        #expect(first.map(\.sequence) == [1, 2, 3])
        _ = requests.receive(TestEvents.ack(1), now: self.start)
        requests.endStream()
        #expect(requests.nextStep(now: self.start).isFinish)

        requests.openStream()
        var again = self.write(&requests)
        _ = requests.receive(TestEvents.ack(0), now: self.start)
        again += self.write(&requests)
        #expect(again.map(\.sequence) == [2, 3, 4])
        #expect(again.prefix(2).map(\.events) == first.suffix(2).map(\.events))
        #expect(requests.resentRequestCount == 2)
        #expect(requests.unsettledCount == 8)
    }

    @Test("an ack up to N settles all up to N, and nothing after it")
    func watermark() throws {
        var requests = try self.requests(6)
        _ = self.write(&requests)
        _ = requests.receive(TestEvents.ack(0), now: self.start)
        _ = self.write(&requests)
        let outcomes = requests.receive(TestEvents.ack(2), now: self.start)
        #expect(outcomes.map(\.result.eventID) == ["e0", "e1", "e2", "e3"])
        #expect(outcomes.allSatisfy { $0.result.verdict == .accepted })
        #expect(requests.unsettledCount == 2)
        #expect(requests.receive(TestEvents.ack(2), now: self.start).isEmpty)
    }

    @Test("an ack settles nothing that was not written on this stream")
    func ackOfTheUnwritten() throws {
        var requests = try self.requests(6)
        _ = self.write(&requests)
        requests.openStream()
        #expect(requests.receive(TestEvents.ack(9), now: self.start).isEmpty)
        #expect(requests.unsettledCount == 6)
    }

    @Test("results may come before the ack; a break forgets them, since all is judged anew")
    func earlyResults() throws {
        var requests = try self.requests(2)
        _ = self.write(&requests)
        let early = TestEvents.ack(0, results: [TestEvents.result(1, 1, .rejected)])
        #expect(requests.receive(early, now: self.start).isEmpty)
        var other = requests
        let kept = requests.receive(TestEvents.ack(1), now: self.start)
        #expect(kept.map(\.result.verdict) == [.accepted, .rejected])
        other.openStream()
        _ = self.write(&other)
        let forgotten = other.receive(TestEvents.ack(1), now: self.start)
        #expect(forgotten.map(\.result.verdict) == [.accepted, .accepted])
    }

    @Test("RETRY_LATER: the event gets a new sequence after the delay, before what is new")
    func retryLater() throws {
        var requests = try self.requests(4)
        _ = self.write(&requests)
        var answer = TestEvents.ack(1, results: [TestEvents.result(1, 0, .retryLater)])
        answer.retryDelay = Google_Protobuf_Duration(seconds: 2)
        let outcomes = requests.receive(answer, now: self.start)
        #expect(outcomes.map(\.result.eventID) == ["e1"])
        guard case .wait(until: .some(let moment)) = requests.nextStep(now: self.start) else {
            Issue.record("nothing new may go out before the delay has passed")
            return
        }
        #expect(moment == self.start + .seconds(2))
        let request = requests.nextStep(now: moment).request
        #expect(request?.sequence == 2)
        #expect(request?.events.map(\.eventID) == ["e0", "e2"])
    }

    @Test(
        "the retry delay has a floor and a ceiling",
        arguments: [(Int64(0), Duration.milliseconds(100)), (3600, .seconds(30))])
    func retryDelayBounds(seconds: Int64, expected: Duration) throws {
        var requests = try self.requests(2)
        _ = self.write(&requests)
        var answer = TestEvents.ack(1, results: [TestEvents.result(1, nil, .retryLater)])
        answer.retryDelay = Google_Protobuf_Duration(seconds: seconds)
        _ = requests.receive(answer, now: self.start)
        guard case .wait(until: .some(let moment)) = requests.nextStep(now: self.start) else {
            Issue.record("it must wait")
            return
        }
        #expect(moment == self.start + expected)
        #expect(requests.unsettledCount == 2)
    }

    @Test("a whole request refused for its size goes again in smaller ones")
    func split() throws {
        var requests = try self.requests(2)
        _ = self.write(&requests)
        var answer = TestEvents.ack(1, results: [TestEvents.result(1, nil, .rejected)])
        answer.limits.maxEvents = 1
        #expect(requests.receive(answer, now: self.start).isEmpty)
        let written = self.write(&requests)
        #expect(written.map(\.sequence) == [2, 3])
        #expect(written.flatMap(\.events).map(\.eventID) == ["e0", "e1"])
    }

    @Test("a whole request refused within the limits is refused for good, event by event")
    func wholeRejection() throws {
        var requests = try self.requests(2)
        _ = self.write(&requests)
        let answer = TestEvents.ack(1, results: [TestEvents.result(1, nil, .rejected)])
        let outcomes = requests.receive(answer, now: self.start)
        #expect(outcomes.map(\.result.verdict) == [.rejected, .rejected])
        #expect(outcomes.map(\.result.index) == [0, 1])
    }

    @Test("closing ends the writing, and what is unsettled goes on the next stream")
    func closing() throws {
        var requests = try self.requests(4)
        _ = self.write(&requests)
        var answer = TestEvents.ack(1)
        answer.closing.grace = Google_Protobuf_Duration(seconds: 1)
        _ = requests.receive(answer, now: self.start)
        #expect(requests.nextStep(now: self.start).isFinish)
        requests.openStream()
        #expect(self.write(&requests).map(\.sequence) == [2])
    }

    @Test("a part of a batch waits while others are under way, and goes when none is")
    func partOfABatch() throws {
        var requests = try self.requests(3)
        _ = self.write(&requests)
        _ = requests.receive(TestEvents.ack(0), now: self.start)
        #expect(requests.nextStep(now: self.start).isWait)
        _ = requests.receive(TestEvents.ack(1), now: self.start)
        #expect(self.write(&requests).map(\.events.count) == [1])
    }

    @Test("it is done when the source has ended and all is settled")
    func done() throws {
        var requests = try self.requests(1)
        _ = self.write(&requests)
        #expect(requests.stalledSince == self.start)
        requests.endSource()
        #expect(!requests.isDone)
        _ = requests.receive(TestEvents.ack(1), now: self.start)
        #expect(requests.isDone && requests.stalledSince == nil)
        #expect(requests.nextStep(now: self.start).isFinish)
    }

    @Test("the time without progress counts from the last final verdict")
    func stall() throws {
        var requests = try self.requests(4)
        _ = self.write(&requests)
        let later = self.start + .seconds(5)
        _ = requests.receive(TestEvents.ack(0), now: later)
        #expect(requests.stalledSince == self.start)
        _ = requests.receive(TestEvents.ack(1), now: later)
        #expect(requests.stalledSince == later)
    }

    @Test("an event that no request holds is refused by the client, and the others go on")
    func tooLarge() throws {
        var requests = UnacknowledgedRequests(limits: RequestLimits(maxRequestBytes: 100))
        requests.add(try TestEvents.event(String(repeating: "x", count: 90)), now: self.start)
        requests.add(try TestEvents.event("e1"), now: self.start)
        requests.endSource()
        requests.openStream()
        guard case .report(let outcome) = requests.nextStep(now: self.start) else {
            Issue.record("the first event does not fit")
            return
        }
        #expect(outcome.result.verdict == .rejected)
        #expect(outcome.result.violations.map(\.code) == [.tooLarge])
        #expect(self.write(&requests).flatMap(\.events).map(\.eventID) == ["e1"])
    }
}
