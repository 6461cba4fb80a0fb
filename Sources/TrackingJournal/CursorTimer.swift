// When the sinks' cursors are written that no group takes along.
internal import Foundation
internal import Synchronization

/// Waits 50 ms for a group. A commit for cursors alone costs an fdatasync like any other, and the
/// requests that come meanwhile would wait for it.
final class CursorTimer: Sendable {
    private struct State {
        /// Whether a cursor has moved since a group was last taken.
        var isMoved = false
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Notes that a cursor has moved.
    ///
    /// - Parameter onDue: called once if no group is taken in time.
    func moved(_ onDue: @escaping @Sendable () -> Void) {
        let isRunning = self.state.withLock { state in
            state.isMoved = true
            defer { state.isRunning = true }
            return state.isRunning
        }
        if isRunning { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) {
            let isDue = self.state.withLock { state in
                state.isRunning = false
                return state.isMoved
            }
            if isDue { onDue() }
        }
    }

    /// Notes that a group is being taken, and the cursors with it.
    func groupTaken() { self.state.withLock { $0.isMoved = false } }
}
