// Waits between connections.
internal import Testing
internal import TrackingClient

struct BackoffTests {
    @Test(
        "waits stay between 100 ms and 30 s, whatever chance says", arguments: [-1, 0, 0.5, 1, 2])
    func bounds(chance: Double) {
        var backoff = Backoff()
        for _ in 0..<50 {
            let wait = backoff.next(chance: chance)
            #expect(wait >= .milliseconds(100) && wait <= .seconds(30))
        }
    }

    @Test("waits grow up to the longest, and are short again after progress")
    func growth() {
        var backoff = Backoff()
        let waits = (0..<6).map { _ in backoff.next(chance: 1) }
        #expect(waits == [300, 900, 2700, 8100, 24_300, 30_000].map { .milliseconds($0) })
        backoff.reset()
        #expect(backoff.next(chance: 1) == .milliseconds(300))
    }
}
