internal import Synchronization

/// Wakes a single waiting task. Several signals before a wait count once.
package final class Signal: Sendable {
    private struct State: Sendable {
        var isRaised = false
        var promise: Promise<Void>?
    }

    private let state = Mutex(State())

    /// Creates a signal that is not raised.
    package init() {}

    /// Wakes the waiting task, or the next one to wait.
    package func raise() {
        let promise = self.state.withLock { state -> Promise<Void>? in
            guard let promise = state.promise else {
                state.isRaised = true
                return nil
            }
            state.promise = nil
            return promise
        }
        promise?.fulfil(())
    }

    /// Waits for a signal since the last wait.
    ///
    /// - Throws: `CancellationError`.
    package func wait() async throws {
        try await self.nextPromise()?.get()
    }

    /// Waits for a signal since the last wait, or until a time has passed.
    ///
    /// - Throws: `CancellationError`.
    func wait(for timeout: Duration) async throws {
        try await self.nextPromise()?.wait(for: timeout)
    }

    /// The promise that the next signal fulfils; nil if one was raised already.
    private func nextPromise() -> Promise<Void>? {
        self.state.withLock { state in
            if state.isRaised {
                state.isRaised = false
                return nil
            }
            let promise = Promise<Void>()
            state.promise = promise
            return promise
        }
    }
}
