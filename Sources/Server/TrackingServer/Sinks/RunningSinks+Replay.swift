// Replays to the sinks of a running server, one at a time.
internal import AdminServer
internal import Delivery
internal import FileSinks
internal import ServerConfiguration
internal import SinkKit
internal import Synchronization
internal import TrackingJournal

extension RunningSinks {
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
            let open = self.stored(except: target.name)
            guard let stored = try open?(self.journal.identity, since) else {
                return try await replay.run([self.groups(since: since, of: target.name)])
            }
            // That backend may be behind the target, or paused.
            let rest = self.groups(since: since, after: stored.newestGroup, of: target.name)
            return try await replay.run([stored.pages, rest])
        }
    }

    func replayFile(_ path: String, to sink: String) async throws -> HitReplay.Counts {
        let target = try self.sink(sink)
        let replay = HitReplay(to: target.sink.replayed, filter: target.listed.filter)
        return try await self.alone {
            let file = try ArchivedHits(path: path)
            return try await replay.run([{ _ in try await file.page() }])
        }
    }

    /// What a backend keeps that gets every hit and can be read.
    private func stored(except target: String) -> OpenedSink.Stored? {
        let whole = self.sinks.first { $0.opened.stored != nil && $0.listed.filter == nil }
        return whole?.name == target ? nil : whole?.opened.stored
    }

    /// What the journal keeps of the groups that a sink has had: the others come to it anyway.
    private func groups(
        since: Int64, after group: Int64 = 0, of sink: String
    ) -> HitReplay.Pages {
        let start = max(self.journal.sequence(before: since), group)
        let end = self.journal.cursor(of: sink)
        return { last in
            var last = max(last, start)
            while let batch = try await self.journal.kept(after: last, through: end) {
                last = batch.sequence
                // It is a dead letter already.
                if batch.isDamaged { continue }
                return HitPage(payload: batch.payload, last: last)
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
