// A sink whose backend loses what it had, more than once.
internal import Delivery
internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing
internal import TrackingJournal

/// What a sink answers, and what comes of it.
struct LossHistory: Sendable {
    let answers: [SinkAnswer]
    /// How often the first wait's ceiling is doubled, of each wait.
    let doublings: [Int]
    /// The groups that the sink is given.
    let sequences: [Int64]
}

extension ForwarderTests {
    private static let loss = SinkAnswer.dataLoss(reason: "the disk was lost")

    private static let takesNothing = LossHistory(
        answers: Array(repeating: Self.loss, count: 12), doublings: Array(0..<12),
        sequences: Array(repeating: 1, count: 13) + [2, 3])

    private static let takesTheFirst = LossHistory(
        answers: [.delivered, Self.loss, .delivered, Self.loss, .delivered, Self.loss],
        doublings: [0, 1, 2], sequences: [1, 2, 1, 2, 1, 2, 1, 2, 3])

    private static let takesAllAgain = LossHistory(
        answers: [.delivered, Self.loss, .delivered, .delivered, Self.loss], doublings: [0, 0],
        sequences: [1, 2, 1, 2, 3, 1, 2, 3])

    @Test(
        "each loss is followed by a wait, whose ceiling doubles until the sink has all again",
        arguments: [Self.takesNothing, Self.takesTheFirst, Self.takesAllAgain])
    func losses(_ history: LossHistory) async throws {
        let journal = try await self.journal("failing", commits: 1...3, retainSeconds: 600)
        journal.finish()
        let (sink, clock) = (FailingSink(history.answers), TestClock())
        try await self.forwarder(journal, sink, clock).run()
        #expect(sink.sequences == history.sequences)
        #expect(clock.sleeps.count == history.doublings.count)
        for (sleep, doubling) in zip(clock.sleeps, history.doublings) {
            let ceiling = min(Duration.milliseconds(100 << doubling), .seconds(30))
            #expect(sleep >= ceiling / 2 && sleep <= ceiling)
        }
        #expect(journal.cursor(of: "failing") == 3)
        await journal.close()
    }

    @Test("a stop ends the wait after a loss, and the next start feeds the sink from the oldest")
    func stopAfterLoss() async throws {
        var journal = try await self.journal("failing", commits: 1...3, retainSeconds: 600)
        let clock = TestClock(maxSleeps: 0)
        let sink = FailingSink([.delivered, .delivered, Self.loss])
        let running = Task { [forwarder = try self.forwarder(journal, sink, clock)] in
            try await forwarder.run()
        }
        await clock.waitUntilStuck()
        running.cancel()
        try await running.value
        #expect(sink.sequences == [1, 2, 3] && journal.cursor(of: "failing") == 0)
        await journal.close()
        journal = try await self.journal("failing", retainSeconds: 600)
        journal.finish()
        let next = FailingSink([])
        try await self.forwarder(journal, next).run()
        #expect(next.sequences == [1, 2, 3])
        await journal.close()
    }
}
