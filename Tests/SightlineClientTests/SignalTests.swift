// Signals that come between two waits.
internal import SightlineClient
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct SignalTests {
    @Test("a signal after a wait that timed out is for the next one")
    func timedOut() async throws {
        let signal = Signal()
        try await signal.wait(for: .zero)
        signal.raise()
        try await signal.wait()
    }

    @Test("a signal after a wait that was cancelled is for the next one")
    func cancelled() async throws {
        let signal = Signal()
        let waiting = Task { try await signal.wait() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        signal.raise()
        try await signal.wait()
    }
}
