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
        guard let promise = self.nextPromise() else { return }
        defer { self.leave(promise) }
        try await promise.get()
    }

    /// Waits for a signal since the last wait, or until a time has passed.
    ///
    /// - Throws: `CancellationError`.
    package func wait(for timeout: Duration) async throws {
        guard let promise = self.nextPromise() else { return }
        defer { self.leave(promise) }
        try await promise.wait(for: timeout)
    }

    /// Forgets a wait that is over: the next signal is for the next one.
    private func leave(_ promise: Promise<Void>) {
        self.state.withLock { if $0.promise === promise { $0.promise = nil } }
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
