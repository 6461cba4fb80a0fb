internal import Foundation

/// A small fast generator, SplitMix64 (Steele et al. 2014): the same seed always gives the same
/// numbers, so a failing test is told by its seed.
package struct Dice: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The run's seed: SIGHTLINE_TEST_SEED where it is set, else a random one.
    package static let runSeed =
        ProcessInfo.processInfo.environment["SIGHTLINE_TEST_SEED"].flatMap { UInt64($0) }
        ?? UInt64.random(in: 0...UInt64.max)

    /// A generator of this seed.
    package init(seed: UInt64) { self.state = seed }

    /// The next number.
    package mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to `bound`, which it does not reach. The bias is of no matter here.
    package mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: self.next() % UInt64(truncatingIfNeeded: bound))
    }

    /// True with a probability in percent.
    package mutating func chance(_ percent: Int) -> Bool { self.below(100) < percent }

    /// One of some elements, of which there is at least one.
    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[self.below(elements.count)]
    }
}
