internal import Synchronization

/// The stages of a forwarder's shutdown.
final class ForwarderShutdown: Sendable {
    private let begun = Atomic(false)
    private let flushOver = Atomic(false)

    var hasBegun: Bool { self.begun.load(ordering: .acquiring) }
    var isFlushOver: Bool { self.flushOver.load(ordering: .acquiring) }

    func begin() { self.begun.store(true, ordering: .releasing) }
    func endFlush() { self.flushOver.store(true, ordering: .releasing) }
}
