// Work that has a time.
internal import HTTPClients
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct TimeLimitTests {
    private struct WorkFailed: Error {}

    @Test("work that is not done in its time is cancelled")
    func late() async {
        let (clock, endless) = (TestClock(), TestClock(maxSleeps: 0))
        await #expect(throws: TimeLimitPassed.self) {
            try await withTimeLimit(.seconds(5), clock: clock) {
                try await endless.sleep(for: .seconds(1))
            }
        }
        #expect(clock.sleeps == [.seconds(5)])
    }

    @Test("work that is done in its time has its result, or its error")
    func done() async throws {
        let clock = TestClock(maxSleeps: 0)
        #expect(try await withTimeLimit(.seconds(5), clock: clock) { 7 } == 7)
        await #expect(throws: WorkFailed.self) {
            try await withTimeLimit(.seconds(5), clock: clock) { throw WorkFailed() }
        }
    }
}
