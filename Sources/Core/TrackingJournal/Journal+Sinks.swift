// Changes the sinks while the journal is open.
internal import Synchronization

extension Journal {
    /// Keeps groups for these sinks and no others from now on. A new sink begins where its `start`
    /// says; a removed one keeps its cursor until it is forgotten, so that it can come back.
    ///
    /// Returns once that is durable, on a full disk when it has room again, or when the task is
    /// cancelled. The forwarder of a removed sink must have ended before the call; that of a new
    /// sink may begin after it.
    package func use(_ sinks: [JournalSink]) async {
        await self.onQueue { self.writer.use(sinks) }
        await self.durability.saveCursors()
    }

    /// The names of the sinks whose cursors are stored, in use or not.
    package var storedSinks: [String] { self.writer.cursors.withLock { $0.names } }

    /// The names of removed sinks, whose cursors are still stored.
    package var formerSinks: [String] { self.writer.cursors.withLock { $0.former } }

    /// Deletes the cursor and the gap of a removed sink: a sink of the same name begins as a new
    /// one. Returns once that is durable, like `use`.
    ///
    /// - Returns: false if there is no former sink of that name.
    package func forget(sink: String) async -> Bool {
        let isForgotten = await self.onQueue { self.writer.cursors.withLock { $0.forget(sink) } }
        if isForgotten { await self.durability.saveCursors() }
        return isForgotten
    }
}
