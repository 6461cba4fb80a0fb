// The bucket's arithmetic: exact at its limits, and nothing in it overflows.
@testable internal import Pacing
internal import Testing

struct TokenBucketTests {
    private static let second: UInt64 = 1_000_000_000

    @Test(
        "a full bucket gives its capacity, and one more only when it has come in",
        arguments: [(1, 1), (10, 1), (10, 5), (1_000_000, 1), (3, 7)])
    func capacity(_ rate: Int, _ burstSeconds: Int) {
        var bucket = TokenBucket(rate: rate, burstSeconds: burstSeconds, now: 5)
        let capacity = rate * burstSeconds
        #expect(bucket.wait(for: capacity, now: 5) == 0)
        bucket.charge(capacity, now: 5)
        #expect(bucket.wait(for: 0, now: 5) == 0)
        let wait = bucket.wait(for: 1, now: 5)
        #expect(wait == (Self.second + UInt64(rate) - 1) / UInt64(rate))
        #expect(bucket.wait(for: 1, now: 5 + wait - 1) > 0)
        #expect(bucket.wait(for: 1, now: 5 + wait) == 0)
    }

    @Test("what is charged on credit has to come in first")
    func credit() {
        var bucket = TokenBucket(rate: 10, burstSeconds: 1, now: 0)
        bucket.charge(25, now: 0)
        #expect(bucket.wait(for: 0, now: 0) == 15 * Self.second / 10)
        #expect(bucket.wait(for: 10, now: 0) == 25 * Self.second / 10)
    }

    @Test("more than a bucket can hold is taken from a full one, or it never could be")
    func moreThanCapacity() {
        var bucket = TokenBucket(rate: 10, burstSeconds: 1, now: 0)
        #expect(bucket.wait(for: 1000, now: 0) == 0)
        bucket.charge(1000, now: 0)
        #expect(bucket.wait(for: 1000, now: 0) == 100 * Self.second)
    }

    @Test("over a long time the rate is exact, however often it is looked at")
    func longRun() {
        var bucket = TokenBucket(rate: 333, burstSeconds: 1, now: 0)
        bucket.charge(333, now: 0)
        var taken = 0
        // A step that is no multiple of a token's time: fractions must not get lost.
        for now in stride(from: UInt64(0), through: 100 * Self.second, by: 1_234_567) {
            while bucket.wait(for: 1, now: now) == 0 {
                bucket.charge(1, now: now)
                taken += 1
            }
        }
        #expect((33_299...33_300).contains(taken))
    }

    @Test("a clock that goes back brings nothing, and takes nothing")
    func clockGoesBack() {
        var bucket = TokenBucket(rate: 10, burstSeconds: 1, now: 9 * Self.second)
        bucket.charge(10, now: 9 * Self.second)
        #expect(bucket.wait(for: 1, now: 0) == Self.second / 10)
        #expect(bucket.wait(for: 1, now: 10 * Self.second) == 0)
    }

    @Test("no rate is no limit")
    func unlimited() {
        var bucket = TokenBucket(rate: 0, burstSeconds: 1, now: 0)
        bucket.charge(.max, now: 0)
        #expect(bucket.wait(for: .max, now: 0) == 0)
        let isFull = bucket.isFull(now: 0)
        #expect(isFull)
    }

    @Test(
        "no amount, rate or time makes it trap",
        arguments: [0, 1, 7, 1 << 20, 1 << 40, .max] as [Int])
    func extremes(_ rate: Int) {
        var bucket = TokenBucket(rate: rate, burstSeconds: .max, now: 0)
        for now in [0, 1, Self.second, 1 << 62, .max] as [UInt64] {
            for amount in [.min, -1, 0, 1, .max] as [Int] {
                _ = bucket.wait(for: amount, now: now)
                bucket.charge(amount, now: now)
                bucket.charge(amount, now: now)
                _ = bucket.wait(for: amount, now: now)
                _ = bucket.isFull(now: now)
            }
        }
        bucket.change(rate: .max, burstSeconds: .max, now: 0)
        #expect(bucket.wait(for: .max, now: .max) >= 0)
    }

    @Test("another rate holds from now on, and what was charged stays charged")
    func change() {
        var bucket = TokenBucket(rate: 10, burstSeconds: 1, now: 0)
        bucket.charge(20, now: 0)
        bucket.change(rate: 100, burstSeconds: 2, now: 0)
        #expect(bucket.wait(for: 0, now: 0) == Self.second / 10)
        bucket.change(rate: 1, burstSeconds: 1, now: 100 * Self.second)
        #expect(bucket.wait(for: 1, now: 100 * Self.second) == 0)
        bucket.charge(1, now: 100 * Self.second)
        #expect(bucket.wait(for: 1, now: 100 * Self.second) == Self.second)
    }
}
