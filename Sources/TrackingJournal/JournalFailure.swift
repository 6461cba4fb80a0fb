internal import Synchronization

/// The first failure, reported once and kept: after a failed sync a later one may succeed and prove
/// nothing, so the disk is not used again.
final class JournalFailure: Sendable {
    private let first = Mutex<JournalError?>(nil)
    private let onFailure: @Sendable (JournalError) -> Void

    init(onFailure: @escaping @Sendable (JournalError) -> Void) { self.onFailure = onFailure }

    var hasHappened: Bool { self.first.withLock { $0 != nil } }

    func note(_ error: JournalError) {
        let isFirst = self.first.withLock { first in
            defer { first = first ?? error }
            return first == nil
        }
        if isFirst { self.onFailure(error) }
    }
}
