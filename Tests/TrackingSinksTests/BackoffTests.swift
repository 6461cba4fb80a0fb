// The waits between two attempts.
internal import Testing
internal import TrackingSinks

/// Always the same number: the ends of a random range.
private struct ConstantGenerator: RandomNumberGenerator {
    let value: UInt64
    func next() -> UInt64 { self.value }
}

struct BackoffTests {
    private static let ceilings: [Duration] = [
        .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800),
        .milliseconds(1600), .milliseconds(3200), .milliseconds(6400), .milliseconds(12_800),
        .milliseconds(25_600), .seconds(30), .seconds(30),
    ]

    @Test("the ceiling doubles from 100 ms to 30 s, the wait lies between nothing and it")
    func table() {
        // 1 and not 0: the standard library would draw again for ever.
        var shortest = ConstantGenerator(value: 1)
        var longest = ConstantGenerator(value: .max)
        var (low, high) = (Backoff(), Backoff())
        for ceiling in Self.ceilings {
            #expect(low.next(using: &shortest) == .zero)
            let wait = high.next(using: &longest)
            #expect(wait > ceiling * 0.999 && wait <= ceiling)
        }
    }

    @Test("it never ends, and waits differ from each other")
    func jitter() {
        var generator = SeededGenerator(seed: 100)
        var backoff = Backoff()
        let waits = (0..<1000).map { _ in backoff.next(using: &generator) }
        #expect(waits.allSatisfy { $0 >= .zero && $0 <= .seconds(30) })
        #expect(Set(waits).count > 900)
        #expect(waits.suffix(900).contains { $0 > .seconds(27) })
    }
}
