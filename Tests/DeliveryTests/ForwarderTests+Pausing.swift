// A sink that an operator has paused.
@testable internal import Delivery
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

/// Pauses itself with one of its batches.
private final class PausingSink: Sink {
    let name = "recording"
    let maxBatch = BatchLimit.oneGroup
    let recording = RecordingSink()
    private let state: SinkState
    private let last: Int64

    init(_ state: SinkState, pausesAt last: Int64) {
        self.state = state
        self.last = last
    }

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        if hits.sequence == self.last { self.state.pause() }
        return await self.recording.deliver(hits)
    }
}

extension ForwarderTests {
    @Test("a pause begins after the batch that is under way, and a stop does not end it")
    func pause() async throws {
        let journal = try await self.journal("recording", commits: 1...5)
        let state = SinkState("recording")
        let sink = PausingSink(state, pausesAt: 2)
        let running = Task { [forwarder = try self.forwarder(journal, sink, state: state)] in
            try await forwarder.run()
        }
        await state.waitUntilHeld()
        running.cancel()
        try await running.value
        #expect(sink.recording.sequences == [1, 2])
        #expect(journal.cursor(of: "recording") == 2)
        await journal.close()
    }

    @Test("a sink whose backend wants no more is paused, and gets that batch when resumed")
    func gone() async throws {
        let journal = try await self.journal("failing", commits: 1...2)
        let state = SinkState("failing")
        let sink = FailingSink([.suspended(reason: "no more, please")])
        let clock = TestClock()
        let forwarder = try self.forwarder(journal, sink, clock, state: state)
        let running = Task { try await forwarder.run() }
        await state.waitUntilHeld()
        #expect(state.isPaused)
        #expect(state.lastError?.reason == "no more, please")
        #expect(sink.sequences == [1] && clock.sleeps.isEmpty)
        state.resume()
        journal.finish()
        try await running.value
        #expect(sink.sequences == [1, 1, 2])
        #expect(journal.cursor(of: "failing") == 2)
        await journal.close()
    }

    @Test("a pause holds the batch that a forwarder has waited for")
    func pauseWhileIdle() async throws {
        let journal = try await self.journal("recording", commits: 1...1)
        let state = SinkState("recording")
        let sink = RecordingSink()
        let running = Task { [forwarder = try self.forwarder(journal, sink, state: state)] in
            try await forwarder.run()
        }
        while sink.sequences.isEmpty { await Task.yield() }
        state.pause()
        try await self.commit([TestEvents.push(.opened, id: 2)], to: journal)
        await state.waitUntilHeld()
        #expect(sink.sequences == [1])
        state.resume()
        while sink.sequences.count < 2 { await Task.yield() }
        journal.finish()
        try await running.value
        #expect(journal.cursor(of: "recording") == 2)
        await journal.close()
    }

    @Test("a sink that is paused from the start gets everything once it is resumed")
    func resume() async throws {
        let journal = try await self.journal("recording", commits: 1...3)
        journal.finish()
        let state = SinkState("recording", isPaused: true)
        let sink = RecordingSink()
        let running = Task { [forwarder = try self.forwarder(journal, sink, state: state)] in
            try await forwarder.run()
        }
        await state.waitUntilHeld()
        #expect(sink.sequences.isEmpty)
        state.resume()
        try await running.value
        #expect(sink.sequences == [1, 2, 3])
        #expect(!state.isPaused)
        await journal.close()
    }

    @Test("the last failure of a sink is kept, with the journal's time")
    func lastError() async throws {
        let journal = try await self.journal("failing", commits: 1...1)
        journal.finish()
        let state = SinkState("failing")
        #expect(state.lastError == nil)
        let start = journal.wallTime
        let sink = FailingSink([.unavailable(reason: "first"), .unavailable(reason: "second")])
        try await self.forwarder(journal, sink, state: state).run()
        let failure = try #require(state.lastError)
        #expect(failure.reason == "second" && failure.time >= start)
        await journal.close()
    }
}

extension SinkState {
    /// Waits until a forwarder waits for the end of the pause.
    fileprivate func waitUntilHeld() async {
        while !self.holdsForwarder { await Task.yield() }
    }
}
