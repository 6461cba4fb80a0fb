internal import Synchronization

/// Wakes a waiting task. A signal that nobody waits for is remembered, so none is lost between a
/// look at some state and the wait for its change; several before a wait count as one. So a waiter
/// looks again, and waits again, until what it waits for is true:
///
///     while !self.isReady { await self.changed.wait() }
///
/// Cancellation does not end a wait. Where it has to, raise the signal in `onCancel`, and look at
/// `Task.isCancelled` too.
///
/// Stored in its owner, so that it costs no allocation. For one waiting task at a time.
package struct Signal: ~Copyable, Sendable {
    // Not private: with debug information the compiler fails at a class that stores a signal, and
    // has no name for its state (Swift 6.3.1).
    enum State {
        case lowered
        case raised
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let state = Mutex(State.lowered)

    /// Creates a signal that nobody has raised.
    package init() {}

    /// Wakes the waiting task, or else ends the next wait before it suspends. From any thread.
    package func raise() {
        let waiter = self.state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard case .awaited(let waiter) = state else {
                state = .raised
                return nil
            }
            state = .lowered
            return waiter
        }
        waiter?.resume()
    }

    /// Waits until the signal was raised since the last wait. A second task that waits at the same
    /// time is a programmer's error, and traps.
    package func wait() async {
        // Most often it is raised already; then no continuation is allocated.
        if self.state.withLock({ $0.lower() }) { return }
        await withCheckedContinuation { waiter in
            let isRaised = self.state.withLock { state in
                if state.lower() { return true }
                if case .awaited = state { preconditionFailure("two tasks wait for a signal") }
                state = .awaited(waiter)
                return false
            }
            if isRaised { waiter.resume() }
        }
    }
}

extension Signal.State {
    /// Takes the signal back; false if it was not raised.
    fileprivate mutating func lower() -> Bool {
        guard case .raised = self else { return false }
        self = .lowered
        return true
    }
}
