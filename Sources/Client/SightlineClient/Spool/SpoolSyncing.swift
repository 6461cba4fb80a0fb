internal import Dispatch
internal import Synchronization

/// Syncs the spool, and keeps the callers that wait for it. It runs on its own queue, since it
/// blocks.
final class SpoolSyncing: Sendable {
    /// Appends within this time share a sync, unless a `send` waits for it.
    static let delay: DispatchTimeInterval = .milliseconds(5)

    struct State: Sendable {
        var isScheduled = false
        var waiting: [(count: UInt64, promise: Promise<SpoolError?>)] = []
    }

    let state = Mutex(State())
    let queue = DispatchQueue(label: "sightline.client.spool")
}

extension SightlineClient {
    /// Schedules a sync of the appended events, and waits for it if sends have to be synced. All
    /// waiting callers share a sync.
    ///
    /// - Throws: `SpoolError`, `CancellationError`.
    nonisolated(nonsending) func waitForSync() async throws {
        guard let spool = self.configuration.spool else { return }
        let appendedCount = self.state.withLock { $0.spool?.appendedCount ?? .max }
        let promise = Promise<SpoolError?>()
        let isScheduled = self.syncing.state.withLock { state in
            if spool.syncsSends { state.waiting.append((appendedCount, promise)) }
            defer { state.isScheduled = true }
            return state.isScheduled
        }
        if !isScheduled { self.scheduleSync(spool) }
        if spool.syncsSends, let failure = try await promise.get() { throw failure }
    }

    private func scheduleSync(_ spool: SpoolConfiguration) {
        if spool.syncsSends {
            self.syncing.queue.async { self.sync() }
        } else {
            self.syncing.queue.asyncAfter(deadline: .now() + SpoolSyncing.delay) {
                self.sync()
            }
        }
    }

    /// Syncs the file outside of the client's lock, so that events can be taken meanwhile. What is
    /// appended from here on schedules the next sync.
    private func sync() {
        self.syncing.state.withLock { $0.isScheduled = false }
        let (file, count) = self.state.withLock { $0.spool?.nextSync() ?? (nil, .max) }
        var failure: SpoolError?
        do {
            try file?.sync()
        } catch {
            failure = error
        }
        let (syncedCount, end) = self.state.withLock {
            $0.noteSync(through: count, failure: failure)
        }
        let promises = self.syncing.state.withLock { state in
            let promises = state.waiting.filter { $0.count <= syncedCount || end != nil }
            state.waiting.removeAll { $0.count <= syncedCount || end != nil }
            return promises
        }
        for (count, promise) in promises { promise.fulfil(count <= syncedCount ? nil : end) }
        self.tellOfFailedSpool()
    }

    /// Wakes the callers that wait for room in a spool that has failed.
    func tellOfFailedSpool() {
        let rooms = self.state.withLock { $0.takeRoomsOfFailedSpool() }
        for room in rooms { room.fulfil(()) }
    }

    /// Syncs and closes the spool, and releases its directory.
    ///
    /// - Throws: `SpoolError`.
    func closeSpool() async throws {
        guard self.configuration.spool != nil else { return }
        let closed = Promise<SpoolError?>()
        self.syncing.queue.async {
            closed.fulfil(self.state.withLock { $0.closeSpool() })
        }
        if let failure = try await closed.get() { throw failure }
    }
}
