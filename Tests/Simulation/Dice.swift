// The single source of randomness of a history: its seed.

/// SplitMix64 (Steele et al. 2014), shared by everything random in a history.
final class Dice: RandomNumberGenerator, @unchecked Sendable {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }

    /// A number of a range.
    func number(_ range: ClosedRange<Int>) -> Int {
        var generator = self
        return Int.random(in: range, using: &generator)
    }

    /// True with a probability.
    func chance(_ probability: Double) -> Bool {
        probability > 0 && Double(self.next() >> 11) / Double(1 << 53) < probability
    }

    /// One of some values.
    func pick<Value>(_ values: [Value]) -> Value { values[self.number(0...values.count - 1)] }
}
