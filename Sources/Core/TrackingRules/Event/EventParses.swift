#if DEBUG
package import WireFormat

internal import Synchronization

/// Reports each parse of an event to a test, which checks that no event is parsed twice.
/// Release builds do not contain it.
package enum EventParses {
    private static let observers = Mutex<[Int: @Sendable (Bytes) -> Void]>([:])
    private static let lastObserver = Atomic(0)

    /// Calls `observe` with the bytes of each event parsed during `body`, by any thread and for
    /// any test: the caller has to recognize its own events.
    package static func observing<Value>(
        with observe: @escaping @Sendable (Bytes) -> Void, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let id = self.lastObserver.add(1, ordering: .relaxed).newValue
        self.observers.withLock { $0[id] = observe }
        defer { self.observers.withLock { $0[id] = nil } }
        return try await body()
    }

    static func note(_ event: Bytes) {
        guard self.lastObserver.load(ordering: .relaxed) > 0 else { return }
        for observe in self.observers.withLock({ Array($0.values) }) { observe(event) }
    }
}
#endif
