internal import Synchronization

extension SightlineClient {
    /// Sends waiting events without lingering, and waits for the verdicts on all events sent
    /// before.
    ///
    /// - Throws: `SightlineClientError.timedOut` with the report, or the error that ended the
    ///   client; `CancellationError`.
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

    /// Stops taking events: `run` returns once all have their verdicts. For a graceful shutdown in
    /// which nothing can wait; `close` waits.
    public func beginClosing() {
        let rooms = self.state.withLock { $0.beginClosing() }
        for room in rooms { room.fulfil(()) }
        self.work.raise()
    }

    /// Stops taking events, waits for the verdicts on all, half-closes the stream, and reads its
    /// end. Events without a verdict after `timeout` stay in `unacknowledged`, and in the spool. It
    /// may be called again. `run` has to be running.
    ///
    /// - Throws: `SightlineClientError.timedOut` with the report, or `refused`; `SpoolError` if the
    ///   spool could not be synced.
    @discardableResult
    public func close(timeout: Duration = .seconds(60)) async throws -> FlushReport {
        let count = self.state.withLock { $0.outbox.count }
        self.beginClosing()
        if self.state.withLock({ $0.isRunning || $0.outbox.count > 0 }) {
            // If this task is cancelled it does not wait; the report below has the rest.
            try? await self.ended.wait(for: timeout)
        }
        self.finish(.closed)
        if self.state.withLock({ $0.isRunning }) {
            // The stream was cancelled, which loses no answer: no caller waits for one any more.
            try? await self.ended.wait(for: Outbox.endTime)
        }
        try await self.closeSpool()
        let (leftCount, end) = self.state.withLock { ($0.outbox.count, $0.end) }
        let report = FlushReport(acknowledgedCount: count - leftCount, pendingCount: leftCount)
        guard leftCount > 0 else { return report }
        throw end == .closed ? .timedOut(report) : end
    }

    /// Ends the client permanently, and resumes all waiting tasks.
    func finish(_ end: SightlineClientError) {
        let (left, promises) = self.state.withLock { $0.finish(end) }
        for ticket in left { ticket.finish(.failed(end)) }
        for promise in promises { promise.fulfil(()) }
        self.over.fulfil(())
        self.work.raise()
    }
}
