// What the writer saves in checkpoints, and what it does once they are durable.
internal import Storage
internal import Synchronization

extension JournalWriter {
    /// Everything that changed since the last checkpoint; nil if nothing did.
    func takeCheckpoint() -> Checkpoint? {
        self.advanceReleasePoint()
        let (sinks, forgotten) = self.cursors.withLock { ($0.unsaved, $0.forgotten) }
        guard
            !sinks.isEmpty || !forgotten.isEmpty || !self.windowRows.unsaved.isEmpty
                || self.releasedThrough != self.savedReleasedThrough || self.ledger.isChanged
        else { return nil }
        // The next start skips records up to the release point.
        precondition(self.releasedThrough <= self.lastSequence, "more is released than exists")
        let (keys, newKeys) = self.windowRows.take()
        return Checkpoint(
            sinks: sinks, forgotten: forgotten, keys: keys, keysThrough: self.lastSequence,
            newKeys: newKeys,
            lastSequence: self.lastSequence, lastTotal: self.eventTotal,
            releasedThrough: self.releasedThrough, releasedTotal: self.releasedTotal,
            forgetThrough: self.windowRows.forgettableThrough,
            ledger: self.ledger.takePages())
    }

    /// Records that a checkpoint is durable: segments whose rows it says are released may be
    /// overwritten from now on.
    ///
    /// - Throws: the system's error if a file cannot be removed or set aside.
    func noteSaved(_ checkpoint: Checkpoint) throws(SystemError) {
        precondition(
            checkpoint.releasedThrough >= self.savedReleasedThrough,
            "checkpoints are saved out of order")
        self.cursors.withLock { $0.noteSaved(checkpoint.sinks, forgotten: checkpoint.forgotten) }
        self.windowRows.noteSaved(checkpoint)
        self.savedReleasedThrough = checkpoint.releasedThrough
        try self.log?.release(through: checkpoint.releasedThrough)
    }

    /// Takes back a checkpoint that the disk had no room for, and deletes a file so that the next
    /// one has room.
    ///
    /// - Returns: whether there was a file to delete.
    /// - Throws: the system's error if the file cannot be removed.
    func noteUnsaved(_ checkpoint: Checkpoint) throws(SystemError) -> Bool {
        self.windowRows.putBack(checkpoint)
        self.ledger.putBack(checkpoint.ledger)
        return try self.log?.makeRoom() ?? false
    }
}
