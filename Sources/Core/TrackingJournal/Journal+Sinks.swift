// The sinks may change while the journal is open.
internal import Synchronization

extension Journal {
    /// Keeps groups for these sinks and no others from now on. A new one begins where its `start`
    /// says; one that is gone keeps its cursor until it is forgotten, so that it can come back.
    ///
    /// Returns once that is durable, on a full disk when it has room again, or when the task is
    /// cancelled. A forwarder of a sink that is gone has to have ended, and one of a new sink may
    /// begin then.
    package func use(_ sinks: [JournalSink]) async {
        await self.onQueue { self.writer.use(sinks) }
        await self.durability.saveCursors()
    }

    /// The names of sinks that have a cursor here and are in use no more.
    package var formerSinks: [String] { self.writer.cursors.withLock { $0.former } }

    /// Forgets where a former sink is, and what it has missed: a sink of its name begins anew.
    /// Returns once that is durable, like `use`.
    ///
    /// - Returns: false if there is no former sink of that name.
    package func forget(sink: String) async -> Bool {
        let isForgotten = await self.onQueue { self.writer.cursors.withLock { $0.forget(sink) } }
        if isForgotten { await self.durability.saveCursors() }
        return isForgotten
    }
}
