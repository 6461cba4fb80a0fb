// The client's memory, step by step: no task, no clock, no connection.
internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing

struct OutboxTests {
    private static let linger: Duration = .seconds(1)

    /// An outbox of an open stream, with events e0, e1, …, requests of at most two events, and
    /// three under way.
    private func outbox(
        _ count: Int,
        limits: RequestLimits = RequestLimits(maxEvents: 2, maxUnacknowledgedRequests: 3),
        linger: Duration = .zero, jitter: Double = 0
    ) throws -> Outbox {
        var outbox = Outbox(
            limits: limits, linger: linger, answerTimeout: .seconds(120), jitter: { jitter })
        for number in 0..<count {
            _ = outbox.add(try Ticket.test(number), now: .zero)
        }
        outbox.openStream(now: .zero)
        return outbox
    }

    /// All that may be written now.
    private func write(_ outbox: inout Outbox, now: Duration = .zero) -> [OutboxRequest] {
        var written: [OutboxRequest] = []
        while let request = outbox.nextStep(now: now).request { written.append(request) }
        return written
    }

    private func verdicts(_ settled: [Outbox.Settled]) -> [Sightline_V1_Verdict] {
        settled.map { $0.result?.verdict ?? .accepted }
    }

    @Test("one request goes out before the limits are known, then as many as the window holds")
    func window() throws {
        var outbox = try self.outbox(10)
        #expect(self.write(&outbox).map(\.sequence) == [1])
        _ = outbox.receive(TestAnswers.ack(0), now: .zero)
        #expect(self.write(&outbox).map(\.sequence) == [2, 3])
        #expect(outbox.nextStep(now: .zero).isWait)
        _ = outbox.receive(TestAnswers.ack(1), now: .zero)
        #expect(self.write(&outbox).map(\.sequence) == [4])
        #expect(outbox.nextStep(now: .zero).isWait)
    }

    @Test("the server's limits tighten the client's, and are forgotten with the stream")
    func serverLimits() throws {
        var outbox = try self.outbox(10)
        _ = self.write(&outbox)
        var answer = TestAnswers.ack(1)
        answer.limits.maxEvents = 1
        answer.limits.maxUnacknowledgedRequests = 2
        _ = outbox.receive(answer, now: .zero)
        #expect(self.write(&outbox).map(\.tickets.count) == [1, 1])
        outbox.openStream(now: .zero)
        _ = self.write(&outbox)
        _ = outbox.receive(TestAnswers.ack(2), now: .zero)
        // What was built under the stricter limits keeps its form.
        #expect(self.write(&outbox).map(\.tickets.count) == [1, 2, 2])
    }

    @Test("only the first request of a stream has the options")
    func options() throws {
        var outbox = try self.outbox(10)
        #expect(self.write(&outbox).map(\.isFirst) == [true])
        _ = outbox.receive(TestAnswers.ack(0), now: .zero)
        #expect(self.write(&outbox).map(\.isFirst) == [false, false])
        outbox.openStream(now: .zero)
        #expect(self.write(&outbox).map(\.isFirst) == [true])
    }

    @Test("after a break the same requests go again: same sequences, same order, same events")
    func resend() throws {
        var outbox = try self.outbox(10)
        var first = self.write(&outbox)
        _ = outbox.receive(TestAnswers.ack(0), now: .zero)
        first += self.write(&outbox)
        #expect(first.map(\.sequence) == [1, 2, 3])
        _ = outbox.receive(TestAnswers.ack(1), now: .zero)
        outbox.endStream()
        #expect(outbox.nextStep(now: .zero).isHalfClose)

        outbox.openStream(now: .zero)
        var again = self.write(&outbox)
        _ = outbox.receive(TestAnswers.ack(0), now: .zero)
        again += self.write(&outbox)
        #expect(again.map(\.sequence) == [2, 3, 4])
        #expect(
            again.prefix(2).map { $0.tickets.map(\.number) }
                == first.suffix(2).map { $0.tickets.map(\.number) })
        #expect(outbox.resentRequestCount == 2)
        #expect(outbox.count == 8 && outbox.byteCount == 48)
        #expect(outbox.unsettled.map(\.id) == (2..<10).map { "e\($0)" })
    }

    @Test("an ack up to N settles all up to N, and nothing after it")
    func watermark() throws {
        var outbox = try self.outbox(6)
        _ = self.write(&outbox)
        _ = outbox.receive(TestAnswers.ack(0), now: .zero)
        _ = self.write(&outbox)
        let settled = outbox.receive(TestAnswers.ack(2), now: .zero)
        #expect(settled.map(\.ticket.id) == ["e0", "e1", "e2", "e3"])
        #expect(self.verdicts(settled) == [.accepted, .accepted, .accepted, .accepted])
        #expect(outbox.count == 2)
        #expect(outbox.receive(TestAnswers.ack(2), now: .zero).isEmpty)
    }

    @Test("an ack settles nothing that was not written on this stream")
    func ackOfTheUnwritten() throws {
        var outbox = try self.outbox(6)
        _ = self.write(&outbox)
        outbox.openStream(now: .zero)
        #expect(outbox.receive(TestAnswers.ack(9), now: .zero).isEmpty)
        #expect(outbox.count == 6)
    }

    @Test("results may come before the ack; a break forgets them, since all is judged anew")
    func earlyResults() throws {
        var outbox = try self.outbox(2)
        _ = self.write(&outbox)
        let early = TestAnswers.ack(0, results: [TestAnswers.result(1, 1, .rejected)])
        #expect(outbox.receive(early, now: .zero).isEmpty)
        var other = outbox
        #expect(
            self.verdicts(outbox.receive(TestAnswers.ack(1), now: .zero)) == [.accepted, .rejected])
        other.openStream(now: .zero)
        _ = self.write(&other)
        #expect(
            self.verdicts(other.receive(TestAnswers.ack(1), now: .zero)) == [.accepted, .accepted])
    }

    @Test("RETRY_LATER: the event gets a new sequence after the delay, before what is new")
    func retryLater() throws {
        var outbox = try self.outbox(4)
        _ = self.write(&outbox)
        var answer = TestAnswers.ack(1, results: [TestAnswers.result(1, 0, .retryLater)])
        answer.retryDelay = Google_Protobuf_Duration(seconds: 2)
        #expect(outbox.receive(answer, now: .zero).map(\.ticket.id) == ["e1"])
        #expect(outbox.nextStep(now: .seconds(2) - .nanoseconds(1)).waitTime == .seconds(2))
        let request = outbox.nextStep(now: .seconds(2)).request
        #expect(request?.sequence == 2 && request?.tickets.map(\.id) == ["e0", "e2"])
        #expect(outbox.retriedEventCount == 1)
    }

    @Test(
        "the retry delay has a floor and a ceiling, and up to half of it is added at random",
        arguments: [
            (Int64(0), 0.0, Duration.milliseconds(100)), (3600, 0, .seconds(30)),
            (2, 1, .seconds(3)), (2, 0.5, .milliseconds(2500)),
        ])
    func retryDelayBounds(seconds: Int64, jitter: Double, expected: Duration) throws {
        var outbox = try self.outbox(2, jitter: jitter)
        _ = self.write(&outbox)
        var answer = TestAnswers.ack(1, results: [TestAnswers.result(1, nil, .retryLater)])
        answer.retryDelay = Google_Protobuf_Duration(seconds: seconds)
        _ = outbox.receive(answer, now: .zero)
        #expect(outbox.nextStep(now: .zero).waitTime == expected)
        #expect(outbox.count == 2)
    }

    @Test("a whole request refused for its size goes again in smaller ones")
    func split() throws {
        var outbox = try self.outbox(2)
        _ = self.write(&outbox)
        var answer = TestAnswers.ack(1, results: [TestAnswers.result(1, nil, .rejected)])
        answer.limits.maxEvents = 1
        #expect(outbox.receive(answer, now: .zero).isEmpty)
        let written = self.write(&outbox)
        #expect(written.map(\.sequence) == [2, 3])
        #expect(written.flatMap(\.tickets).map(\.id) == ["e0", "e1"])
    }

    @Test("a whole request refused within the limits is refused for good, event by event")
    func wholeRejection() throws {
        var outbox = try self.outbox(2)
        _ = self.write(&outbox)
        let answer = TestAnswers.ack(1, results: [TestAnswers.result(1, nil, .rejected)])
        #expect(self.verdicts(outbox.receive(answer, now: .zero)) == [.rejected, .rejected])
    }

    @Test("closing ends the writing, and what is unsettled goes on the next stream")
    func closing() throws {
        var outbox = try self.outbox(4)
        _ = self.write(&outbox)
        var answer = TestAnswers.ack(1)
        answer.closing.grace = Google_Protobuf_Duration(seconds: 2)
        _ = outbox.receive(answer, now: .seconds(1))
        #expect(outbox.nextStep(now: .seconds(1)).isHalfClose)
        #expect(outbox.deadline == .seconds(3) + Outbox.endTime)
        outbox.openStream(now: .seconds(4))
        #expect(outbox.deadline == .seconds(124))
        #expect(self.write(&outbox, now: .seconds(5)).map(\.sequence) == [2])
    }

    @Test("an event waits for others as long as it may, unless it is hurried")
    func linger() throws {
        var outbox = try self.outbox(1, linger: Self.linger)
        #expect(outbox.nextStep(now: .zero).waitTime == Self.linger)
        var hurried = outbox
        hurried.hurry()
        #expect(hurried.nextStep(now: .zero).request != nil)
        var filled = outbox
        #expect(filled.add(try Ticket.test(1), now: .zero))
        #expect(filled.nextStep(now: .zero).request?.tickets.count == 2)
        #expect(outbox.nextStep(now: Self.linger).request?.tickets.count == 1)
    }

    @Test("adding tells when there is something to do: for the first event, and when one is full")
    func wakes() throws {
        var outbox = try self.outbox(0, limits: RequestLimits(maxEvents: 3), linger: Self.linger)
        let wakes = try (0..<4).map { outbox.add(try Ticket.test($0), now: .zero) }
        #expect(wakes == [true, false, true, true])
    }

    @Test("it is done when it has finished and all is settled")
    func done() throws {
        var outbox = try self.outbox(1, linger: Self.linger)
        outbox.finish()
        #expect(self.write(&outbox).count == 1 && !outbox.isDone)
        _ = outbox.receive(TestAnswers.ack(1), now: .zero)
        #expect(outbox.isDone && outbox.byteCount == 0)
        #expect(outbox.nextStep(now: .seconds(1)).isHalfClose)
        #expect(outbox.deadline == .seconds(1) + Outbox.endTime)
    }

    @Test("a stream without its first answer, or with requests under way, is given up in time")
    func answerTimeout() throws {
        var outbox = try self.outbox(4)
        #expect(outbox.deadline == .seconds(120))
        _ = self.write(&outbox, now: .seconds(1))
        #expect(outbox.deadline == .seconds(121))
        _ = outbox.receive(TestAnswers.ack(0), now: .seconds(2))
        #expect(outbox.deadline == .seconds(122))
        _ = outbox.receive(TestAnswers.ack(1), now: .seconds(3))
        #expect(outbox.deadline == nil)
    }

    @Test("a request holds exactly maxRequestBytes at most", arguments: [0, 1])
    func bytes(missing: Int) throws {
        let most = RequestLimits.requestOverheadByteCount + 3 * 6 - missing
        var outbox = try self.outbox(3, limits: RequestLimits(maxRequestBytes: most))
        #expect(self.write(&outbox).map(\.tickets.count) == [3 - missing])
    }

    @Test("an event that exceeds the limit of a request travels alone")
    func largest() throws {
        var outbox = try self.outbox(3, limits: RequestLimits(maxRequestBytes: 1))
        #expect(self.write(&outbox).map(\.tickets.count) == [1])
        _ = outbox.receive(TestAnswers.ack(0), now: .zero)
        #expect(self.write(&outbox).map(\.tickets.count) == [1, 1])
    }
}
