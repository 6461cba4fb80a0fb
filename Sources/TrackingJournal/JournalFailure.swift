// A disk that has failed is not asked again: a later sync may succeed and prove nothing.
internal import Synchronization

/// The first failure, which is told once and stays.
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
