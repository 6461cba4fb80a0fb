// The writer's knowledge of the sinks. May be called from any thread, except `use`.
internal import DequeModule
internal import Synchronization

extension JournalWriter {
    func cursor(of sink: String) -> SinkCursor { self.cursors.withLock { $0[sink] } }

    func advance(sink: String, to cursor: SinkCursor) {
        self.cursors.withLock { $0.advance(sink, to: cursor, at: self.machine.now()) }
    }

    func rewind(sink: String) {
        let first = self.rows.withLock { $0.first?.sequence }
        self.cursors.withLock { cursors in
            cursors.rewind(sink, to: first.map { $0 - 1 } ?? cursors[sink].sequence)
        }
    }

    /// Keeps groups for these sinks from now on. Called on the journal's queue.
    func use(_ sinks: [JournalSink]) {
        let last = self.lastSequence
        self.cursors.withLock { cursors in
            let first = self.rows.withLock { $0.first?.sequence }
            cursors.use(
                sinks, kept: first.map { $0 - 1 } ?? last, last: last, at: self.machine.now())
        }
    }

    /// Registers the groups up to `sequence` with a forwarder that has them in memory; returns the
    /// gap that it must report before it delivers them.
    func take(sink: String, through sequence: Int64) -> SinkGap? {
        self.cursors.withLock { $0.take(sink, through: sequence) }
    }

    func missedHits(of sink: String) -> Int { self.cursors.withLock { $0.missedHits(of: sink) } }

    /// The newest sequence that every required sink has confirmed.
    var delivered: Int64 { self.cursors.withLock { $0.delivered } }

    /// The newest sequence that every sink has confirmed, required or not.
    var confirmed: Int64 { self.cursors.withLock { $0.confirmed } }

    /// Whether a new sink begins after groups that are kept: its cursor has to be durable first.
    var hasNewSink: Bool { self.cursors.withLock { $0.hasBegun } }

    /// The newest row released since the start.
    var releasedSinceStart: Int64 { self.cursors.withLock { $0.releasedThrough } }

    func lag(of sink: String) -> Journal.Lag {
        let cursor = self.cursor(of: sink).sequence
        return self.rows.withLock { rows in
            let index = rows.index(after: cursor)
            return Journal.Lag(
                groups: rows.count - index, bytes: rows.bytes(from: index),
                oldestTime: index < rows.count ? rows[index].createTime : nil)
        }
    }
}
