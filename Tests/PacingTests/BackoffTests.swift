// The waits between two attempts.
internal import Pacing
internal import Testing

/// Always the same number: the ends of a random range.
private struct ConstantGenerator: RandomNumberGenerator {
    let value: UInt64
    func next() -> UInt64 { self.value }
}

struct BackoffTests {
    @Test(
        "the ceiling doubles up to the longest, and the wait lies in its upper half",
        arguments: [
            (Backoff(), [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]),
            (
                Backoff(first: .seconds(1), longest: .seconds(16)),
                [1000, 2000, 4000, 8000, 16_000, 16_000]
            ),
        ])
    func table(_ backoff: Backoff, _ ceilings: [Int]) {
        // 1 and not 0: the standard library would draw again for ever.
        var shortest = ConstantGenerator(value: 1)
        var longest = ConstantGenerator(value: .max)
        var (low, high) = (backoff, backoff)
        for ceiling in ceilings.map(Duration.milliseconds) {
            let (least, most) = (low.next(using: &shortest), high.next(using: &longest))
            #expect(least >= ceiling * 0.5 && least < ceiling * 0.501)
            #expect(most > ceiling * 0.999 && most <= ceiling)
        }
    }

    @Test("waits are short again after progress, and differ from each other")
    func reset() {
        var generator = SystemRandomNumberGenerator()
        var backoff = Backoff()
        let waits = (0..<1000).map { _ in backoff.next(using: &generator) }
        #expect(Set(waits).count > 900 && waits.allSatisfy { $0 <= .seconds(30) })
        backoff.reset()
        #expect(backoff.next(using: &generator) <= .milliseconds(100))
    }
}
