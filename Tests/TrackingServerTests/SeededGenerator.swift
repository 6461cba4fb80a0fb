// Reproducible randomness: a failing test prints its seed.

/// Pseudo-random numbers (an LCG with Knuth's MMIX constants, its high half mixed in).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return self.state ^ (self.state >> 33)
    }
}
