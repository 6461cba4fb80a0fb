internal import Synchronization

/// Whether the disk has failed. Reports the first failure.
final class JournalFailure: Sendable {
    private let isNoted = Atomic(false)
    private let onFailure: @Sendable (JournalError) -> Void

    init(onFailure: @escaping @Sendable (JournalError) -> Void) { self.onFailure = onFailure }

    var hasHappened: Bool { self.isNoted.load(ordering: .acquiring) }

    func note(_ error: JournalError) {
        if !self.isNoted.exchange(true, ordering: .acquiringAndReleasing) { self.onFailure(error) }
    }
}
