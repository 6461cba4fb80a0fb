/// A token bucket in integer arithmetic that saturates instead of overflowing. A value without a
/// clock: callers pass the time.
package struct TokenBucket: Sendable {
    /// Tokens per second; 0 means unlimited.
    package private(set) var rate: Int
    /// The tokens of a full bucket: the maximum burst.
    private(set) var capacity: Int

    /// Negative until charged tokens are refilled.
    private var level: Int
    /// Billionths of a token refilled beyond `level`.
    private var fraction: UInt64 = 0
    /// When it was last refilled, in nanoseconds of a monotonic clock.
    private var refillTime: UInt64

    private static let billion: UInt64 = 1_000_000_000

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - rate: tokens per second, 0 for unlimited.
    ///   - burstSeconds: the capacity, in seconds of that rate.
    ///   - now: nanoseconds of a monotonic clock.
    package init(rate: Int, burstSeconds: Int, now: UInt64) {
        self.init(
            rate: rate, capacity: Self.capacity(rate: rate, burstSeconds: burstSeconds), now: now)
    }

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - rate: tokens per second, 0 for unlimited.
    ///   - capacity: the maximum burst in tokens.
    ///   - now: nanoseconds of a monotonic clock.
    package init(rate: Int, capacity: Int, now: UInt64) {
        self.rate = max(0, rate)
        self.capacity = capacity
        self.level = self.capacity
        self.refillTime = now
    }

    /// Changes the rate. Debt remains.
    package mutating func change(rate: Int, burstSeconds: Int, now: UInt64) {
        let wasUnlimited = self.rate == 0
        self.refill(now: now)
        self.rate = max(0, rate)
        self.capacity = Self.capacity(rate: rate, burstSeconds: burstSeconds)
        self.level = wasUnlimited ? self.capacity : min(self.level, self.capacity)
        self.fraction = 0
    }

    /// Nanoseconds until `amount` can be taken; 0 if it can be taken now. A full bucket allows more
    /// than its capacity, which could otherwise never be taken.
    package mutating func wait(for amount: Int, now: UInt64) -> UInt64 {
        guard self.rate > 0 else { return 0 }
        self.refill(now: now)
        let (missing, isTooMuch) = min(amount, self.capacity).subtractingReportingOverflow(
            self.level)
        if isTooMuch { return .max }
        guard missing > 0 else { return 0 }
        let rate = UInt64(self.rate)
        let (needed, isBeyond) = UInt64(missing).multipliedReportingOverflow(by: Self.billion)
        if isBeyond { return .max }
        let billionths = needed &- min(needed, self.fraction)
        return billionths / rate &+ (billionths % rate == 0 ? 0 : 1)
    }

    /// Takes `amount`, going into debt if there is not enough.
    package mutating func charge(_ amount: Int, now: UInt64) {
        guard self.rate > 0 else { return }
        self.refill(now: now)
        let (level, isTooLow) = self.level.subtractingReportingOverflow(max(0, amount))
        self.level = isTooLow ? .min : level
    }

    /// Whether the bucket is full, and thus equal to a new one.
    package mutating func isFull(now: UInt64) -> Bool {
        self.wait(for: self.capacity, now: now) == 0
    }

    private mutating func refill(now: UInt64) {
        // A clock that did not advance, or a time read earlier by another thread, adds nothing.
        guard now > self.refillTime else { return }
        let product = (now &- self.refillTime).multipliedFullWidth(by: UInt64(self.rate))
        let (low, carries) = product.low.addingReportingOverflow(self.fraction)
        let high = product.high &+ (carries ? 1 : 0)
        self.refillTime = now
        guard high < Self.billion else {
            self.level = self.capacity
            self.fraction = 0
            return
        }
        let (tokens, rest) = Self.billion.dividingFullWidth((high, low))
        let (level, isTooHigh) = self.level.addingReportingOverflow(Int(clamping: tokens))
        self.level = isTooHigh ? self.capacity : min(level, self.capacity)
        self.fraction = self.level == self.capacity ? 0 : rest
    }

    private static func capacity(rate: Int, burstSeconds: Int) -> Int {
        let (capacity, isTooHigh) = max(0, rate).multipliedReportingOverflow(
            by: max(1, burstSeconds))
        return isTooHigh ? .max : capacity
    }
}
