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
        let (report, end) = self.state.withLock { state in
            let leftCount = state.isOver ? min(count, state.outbox.count) : state.endFlush(flush)
            let report = state.report(of: count, pendingCount: leftCount)
            return (report, state.isOver ? state.end : nil)
        }
        guard report.pendingCount > 0 else { return report }
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
    /// end. The report counts events without a verdict after `timeout`, which stay in
    /// `unacknowledged`, and in the spool. It may be called again. `run` has to be running.
    ///
    /// - Throws: `SightlineClientError.timedOut` with the report if events have no verdict and no
    ///   spool keeps them; `refused`; `SpoolError` if the spool could not be synced.
    @discardableResult
    public func close(timeout: Duration = .seconds(60)) async throws -> FlushReport {
        let count = self.state.withLock { $0.outbox.count }
        self.beginClosing()
        if self.state.withLock({ $0.isRunning || $0.outbox.count > 0 }) {
            // If this task is cancelled it does not wait; the report below has the rest.
            try? await self.ended.wait(for: timeout)
        }
        UnclosedClients.remove(ObjectIdentifier(self))
        let atEnd = self.state.withLock { $0.report(of: count, pendingCount: $0.outbox.count) }
        self.finish(atEnd.pendingCount == 0 ? .closed : .timedOut(atEnd))
        if self.state.withLock({ $0.isRunning }) {
            // The stream was cancelled, which loses no answer: no caller waits for one any more.
            try? await self.ended.wait(for: Outbox.endTime)
        }
        try await self.closeSpool()
        let (report, end) = self.state.withLock { state in
            (state.report(of: count, pendingCount: state.outbox.count), state.end)
        }
        guard report.pendingCount > 0 else { return report }
        if case .refused = end { throw end }
        guard self.configuration.spool != nil else {
            throw SightlineClientError.timedOut(report)
        }
        return report
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
