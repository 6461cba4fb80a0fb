// The sinks of a running server: what its operators do with them.
internal import AdminServer
internal import Logging
internal import ServerConfiguration
internal import Synchronization
internal import TrackingJournal
internal import TrackingSinks

/// One sink with its state, as its forwarder and a replay use it.
struct RunningSink: Sendable {
    let listed: ListedSink
    let sink: SharedSink
    let state: SinkState

    var name: String { self.listed.name }
}

/// Hits that a sink's backend keeps, for a replay to another sink.
struct HitArchive: Sendable {
    /// The sink's name.
    let sink: String
    /// Opens it; gives the pages of hits that were received since a time, in microseconds since
    /// 1970.
    let open: @Sendable (_ since: Int64) throws -> (Int64) async throws -> HitReplay.Page?
}

/// Replays to the sinks of a running server, one at a time.
final class RunningSinks: SinkOperator {
    private let sinks: [RunningSink]
    private let journal: Journal
    private let deadLetters: DeadLetters
    /// A sink whose backend keeps every hit, and can be read; nil if there is none.
    private let archive: HitArchive?
    private let isReplaying = Atomic(false)
    /// As the configuration last had them.
    private let listed: Mutex<[ListedSink]>

    init(
        _ sinks: [RunningSink], _ journal: Journal, _ deadLetters: DeadLetters,
        archive: HitArchive?
    ) {
        self.sinks = sinks
        self.listed = Mutex(sinks.map(\.listed))
        self.journal = journal
        self.deadLetters = deadLetters
        self.archive = archive
    }

    var states: [SinkState] { self.sinks.map(\.state) }

    /// Prepares to pause and resume the sinks of which the configuration has changed that. What an
    /// operator has paused stays so where it has not.
    ///
    /// - Parameter logger: is warned of what needs a restart.
    func prepare(_ next: [ListedSink], _ logger: Logger) -> @Sendable () -> Void {
        {
            let before = self.listed.withLock { listed in
                defer { listed = next }
                return listed
            }
            if before.map({ $0.paused(false) }) != next.map({ $0.paused(false) }) {
                logger.warning(
                    "of sinks, only paused changes now: the rest is in force after a restart")
            }
            for sink in self.sinks {
                let isPaused = next.first { $0.name == sink.name }?.isPaused
                let wasPaused = before.first { $0.name == sink.name }?.isPaused
                guard let isPaused, isPaused != wasPaused else { continue }
                if isPaused { sink.state.pause() } else { sink.state.resume() }
            }
        }
    }

    func replayLetters(
        to sink: String, refusedBy refuser: String, limit: Int
    ) async throws -> Replay.Counts {
        let target = try self.sink(sink)
        return try await self.alone {
            try await Replay(of: self.deadLetters, refusedBy: refuser, to: target.sink.replayed)
                .run(limit: limit)
        }
    }

    func replayHits(to sink: String, since: Int64) async throws -> HitReplay.Counts {
        let target = try self.sink(sink)
        let replay = HitReplay(to: target.sink.replayed, filter: target.listed.filter)
        return try await self.alone {
            if let archive = self.archive, archive.sink != target.name {
                return try await replay.run(try archive.open(since))
            }
            return try await replay.run(self.groups(since: since, of: target.name))
        }
    }

    /// What the journal keeps of the groups that a sink has had: the others come to it anyway.
    private func groups(
        since: Int64, of sink: String
    ) -> (Int64) async throws -> HitReplay.Page? {
        let start = self.journal.sequence(before: since)
        let end = self.journal.cursor(of: sink)
        return { last in
            var last = max(last, start)
            while let batch = try await self.journal.kept(after: last, through: end) {
                last = batch.sequence
                // It is a dead letter already.
                if batch.isDamaged { continue }
                return HitReplay.Page(payload: batch.payload, last: last)
            }
            return nil
        }
    }

    private func sink(_ name: String) throws(SinkOperationError) -> RunningSink {
        if let sink = self.sinks.first(where: { $0.name == name }) { return sink }
        throw .unknownSink(name, known: self.sinks.map(\.name))
    }

    private func alone<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard !self.isReplaying.exchange(true, ordering: .acquiring) else {
            throw SinkOperationError.busy
        }
        defer { self.isReplaying.store(false, ordering: .releasing) }
        return try await body()
    }
}
