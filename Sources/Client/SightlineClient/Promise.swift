internal import Synchronization

/// A value that is set once, and that tasks wait for.
package final class Promise<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var value: Value?
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Value, any Error>)] = []
        var nextID: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Creates a promise without its value.
    package init() {}

    /// Sets the value, and resumes all waiting tasks. Later values are ignored.
    package func fulfil(_ value: Value) {
        let waiting = self.state.withLock { state in
            guard state.value == nil else { return [] as [CheckedContinuation<Value, any Error>] }
            state.value = value
            defer { state.waiting = [] }
            return state.waiting.map(\.continuation)
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// Waits for the value.
    ///
    /// - Throws: `CancellationError`.
    package func get() async throws -> Value {
        let id = self.state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                self.wait(id, continuation)
            }
        } onCancel: {
            let cancelled = self.state.withLock { state in
                let place = state.waiting.firstIndex { $0.id == id }
                return place.map { state.waiting.remove(at: $0).continuation }
            }
            cancelled?.resume(throwing: CancellationError())
        }
    }

    private func wait(_ id: UInt64, _ continuation: CheckedContinuation<Value, any Error>) {
        let result = self.state.withLock { state -> Result<Value, any Error>? in
            if let value = state.value { return .success(value) }
            if Task.isCancelled { return .failure(CancellationError()) }
            state.waiting.append((id, continuation))
            return nil
        }
        if let result { continuation.resume(with: result) }
    }
}

extension Promise<Void> {
    /// Waits until it is fulfilled, or a time has passed.
    ///
    /// - Throws: `CancellationError`.
    func wait(for timeout: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.get() }
            group.addTask { try await Task.sleep(for: timeout) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
