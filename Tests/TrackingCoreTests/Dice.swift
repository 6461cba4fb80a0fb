// Chance that can be repeated: every generated test says its seed, and takes one from outside.

internal import Foundation

/// A small fast generator (SplitMix64); the same seed always gives the same numbers.
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    /// The run's seed: SIGHTLINE_TEST_SEED where it is set, else a random one.
    static let runSeed =
        ProcessInfo.processInfo.environment["SIGHTLINE_TEST_SEED"].flatMap { UInt64($0) }
        ?? UInt64.random(in: 0...UInt64.max)

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to `bound`, which it does not reach. The bias is of no matter here.
    mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: self.next() % UInt64(truncatingIfNeeded: bound))
    }

    mutating func chance(_ percent: Int) -> Bool { self.below(100) < percent }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[self.below(elements.count)]
    }
}

extension Sequence<UInt8> {
    /// The bytes in hex, for a failure's message.
    var hex: String {
        self.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

extension [UInt8] {
    /// The bytes that hex digits stand for; nil for anything else.
    init?(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == hex.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map {
            UInt8(truncatingIfNeeded: digits[$0] << 4 | digits[$0 + 1])
        }
    }
}
