// A monotonic clock that a test moves by hand.
internal import Synchronization

final class TestTime: Sendable {
    private let nanoseconds = Atomic<UInt64>(1_000_000_000_000)

    var now: @Sendable () -> UInt64 { { self.nanoseconds.load(ordering: .relaxed) } }

    func advance(milliseconds: UInt64) {
        self.nanoseconds.wrappingAdd(milliseconds * 1_000_000, ordering: .relaxed)
    }
}
