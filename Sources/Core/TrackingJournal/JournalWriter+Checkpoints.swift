// What the writer gives to checkpoints, and what it does once they are durable.
internal import Storage
internal import Synchronization

extension JournalWriter {
    /// What became known since the last checkpoint; nil where that is nothing.
    func takeCheckpoint() -> Checkpoint? {
        self.advanceReleasePoint()
        let (sinks, forgotten) = self.cursors.withLock { ($0.unsaved, $0.forgotten) }
        guard
            !sinks.isEmpty || !forgotten.isEmpty || !self.windowRows.unsaved.isEmpty
                || self.releasedThrough != self.savedReleasedThrough || self.ledger.isChanged
        else { return nil }
        let (keys, newKeys) = self.windowRows.take()
        return Checkpoint(
            sinks: sinks, forgotten: forgotten, keys: keys, keysThrough: self.lastSequence,
            newKeys: newKeys,
            lastSequence: self.lastSequence, lastTotal: self.eventTotal,
            releasedThrough: self.releasedThrough, releasedTotal: self.releasedTotal,
            forgetThrough: self.windowRows.forgettableThrough,
            ledger: self.ledger.takePages())
    }

    /// Segments whose rows have gone may be written over, now that a checkpoint says so.
    ///
    /// - Throws: what the system says where a file cannot be removed or set aside.
    func noteSaved(_ checkpoint: Checkpoint) throws(SystemError) {
        self.cursors.withLock { $0.noteSaved(checkpoint.sinks, forgotten: checkpoint.forgotten) }
        self.windowRows.noteSaved(checkpoint)
        self.savedReleasedThrough = checkpoint.releasedThrough
        try self.log?.release(through: checkpoint.releasedThrough)
    }

    /// The disk had no room for a checkpoint: the next one gets some.
    ///
    /// - Returns: whether there was any to give.
    /// - Throws: what the system says where a file cannot be removed.
    func noteUnsaved(_ checkpoint: Checkpoint) throws(SystemError) -> Bool {
        self.windowRows.putBack(checkpoint)
        self.ledger.putBack(checkpoint.ledger)
        return try self.log?.makeRoom() ?? false
    }
}
