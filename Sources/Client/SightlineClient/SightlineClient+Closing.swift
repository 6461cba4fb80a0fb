internal import Synchronization

extension SightlineClient {
    /// Sends what waits without lingering, and waits for the verdicts on all that was sent before.
    ///
    /// - Throws: `SightlineClientError.timedOut` with the report, or why the client has ended;
    ///   `CancellationError`.
    public func flush(timeout: Duration = .seconds(60)) async throws -> FlushReport {
        let (flush, count) = self.state.withLock { $0.beginFlush() }
        self.work.raise()
        do {
            try await flush.done.wait(for: timeout)
        } catch {
            _ = self.state.withLock { $0.endFlush(flush) }
            throw error
        }
        let (leftCount, end) = self.state.withLock { state in
            let leftCount = state.isOver ? min(count, state.outbox.count) : state.endFlush(flush)
            return (leftCount, state.isOver ? state.end : nil)
        }
        let report = FlushReport(acknowledgedCount: count - leftCount, pendingCount: leftCount)
        guard leftCount > 0 else { return report }
        throw end ?? .timedOut(report)
    }

    /// Takes no event any more: `run` returns once all have their verdicts. For a graceful
    /// shutdown, where nobody can wait; `close` waits.
    public func beginClosing() {
        let rooms = self.state.withLock { $0.beginClosing() }
        for room in rooms { room.fulfil(()) }
        self.work.raise()
    }

    /// Takes no event any more, waits for the verdicts on all, half-closes the stream, and reads
    /// its end. What has no verdict after `timeout` stays in `unacknowledged`, and in the spool. It
    /// may be repeated. `run` has to be running.
    ///
    /// - Throws: `SightlineClientError.timedOut` with the report, or `refused`; `SpoolError` if the
    ///   spool could not be synced.
    @discardableResult
    public func close(timeout: Duration = .seconds(60)) async throws -> FlushReport {
        let count = self.state.withLock { $0.outbox.count }
        self.beginClosing()
        if self.state.withLock({ $0.isRunning || $0.outbox.count > 0 }) {
            // Whoever is cancelled does not wait: what is left is told below.
            try? await self.ended.wait(for: timeout)
        }
        self.finish(.closed)
        if self.state.withLock({ $0.isRunning }) {
            // The stream is cancelled, which takes no answer of anybody.
            try? await self.ended.wait(for: Outbox.endTime)
        }
        try await self.closeSpool()
        let (leftCount, end) = self.state.withLock { ($0.outbox.count, $0.end) }
        let report = FlushReport(acknowledgedCount: count - leftCount, pendingCount: leftCount)
        guard leftCount > 0 else { return report }
        throw end == .closed ? .timedOut(report) : end
    }

    /// Ends the client for good, and tells all that wait.
    func finish(_ end: SightlineClientError) {
        let (left, promises) = self.state.withLock { $0.finish(end) }
        for ticket in left { ticket.finish(.failed(end)) }
        for promise in promises { promise.fulfil(()) }
        self.over.fulfil(())
        self.work.raise()
    }
}
