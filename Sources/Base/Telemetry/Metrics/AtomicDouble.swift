internal import Synchronization

/// An atomic Double, stored as its bits, since the standard library has none.
struct AtomicDouble: ~Copyable {
    private let bits = Atomic<UInt64>(Double.zero.bitPattern)

    var value: Double { Double(bitPattern: self.bits.load(ordering: .relaxed)) }

    func set(_ value: Double) { self.bits.store(value.bitPattern, ordering: .relaxed) }

    func add(_ amount: Double) {
        var seen = self.bits.load(ordering: .relaxed)
        while true {
            let sum = Double(bitPattern: seen) + amount
            let (isExchanged, original) = self.bits.weakCompareExchange(
                expected: seen, desired: sum.bitPattern, ordering: .relaxed)
            if isExchanged { return }
            seen = original
        }
    }
}
