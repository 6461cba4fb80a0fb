// What a client's calls and tasks share: which failures are told of.
@testable internal import SightlineClient
internal import SightlineProtos
internal import Testing

struct ClientStateTests {
    @Test("a failure is told once in a row of them, and once in 30 s")
    func tellings() throws {
        let configuration = ClientConfiguration(address: try ServerAddress("127.0.0.1:1"))
        let outbox = Outbox(
            limits: configuration.limits, linger: .zero, answerTimeout: .seconds(1), jitter: { 0 })
        var state = ClientState(configuration, outbox: outbox)
        let interval = ClientState.tellingInterval
        /// Gives an event its verdict, which ends a row of failures.
        func settle(_ sequence: UInt64) throws {
            _ = try state.take([1], now: { .zero })
            state.openStream(now: .zero)
            _ = state.outbox.nextStep(now: .seconds(1))
            _ = state.receive(TestAnswers.ack(sequence), now: .seconds(1))
            #expect(state.currentStatistics.lastFailure == nil)
        }
        var told = [state.fail("a", now: .zero), state.fail("b", now: interval)]
        #expect(state.currentStatistics.lastFailure == "b")
        try settle(1)
        told.append(state.fail("c", now: interval))
        try settle(2)
        let next = interval * 2
        told.append(state.fail("d", now: next - .nanoseconds(1)))
        told.append(state.fail("e", now: next))
        #expect(told == [true, false, true, false, true])
    }

    @Test("an answer that only puts events back is a failure, and a verdict ends it")
    func takesNoEvents() throws {
        let configuration = ClientConfiguration(address: try ServerAddress("127.0.0.1:1"))
        let outbox = Outbox(
            limits: RequestLimits(maxEvents: 2), linger: .zero, answerTimeout: .seconds(60),
            jitter: { 0 })
        var state = ClientState(configuration, outbox: outbox)
        for _ in 0..<2 { _ = try state.take([1], now: { .zero }) }
        state.openStream(now: .zero)
        /// Writes the next request, and tells of its answer.
        func answer(_ sequence: UInt64, _ index: UInt32?, now: Duration) -> Bool {
            let request = state.outbox.nextStep(now: now).request
            #expect(request?.sequence == sequence)
            let result = TestAnswers.result(sequence, index, .retryLater)
            return state.receive(TestAnswers.ack(sequence, results: [result]), now: now).isNews
        }
        let later: Duration = .seconds(30)
        var told = [answer(1, nil, now: .zero), answer(2, nil, now: later)]
        let failure = "RETRY_LATER: the server takes no events now"
        #expect(state.currentStatistics.lastFailure == failure)
        #expect(state.report(of: 2, pendingCount: 2).lastFailure == failure)
        // One event of two is accepted.
        told.append(answer(3, 0, now: later * 2))
        #expect(state.currentStatistics.lastFailure == nil)
        told.append(answer(4, nil, now: later * 3))
        #expect(told == [true, false, false, true])
    }
}
