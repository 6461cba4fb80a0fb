// Every byte of a journal's files, changed one at a time.
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal

/// Checks the effect of one changed byte on the batches that the sink has yet to get.
private struct ByteJudge: Sendable {
    let stored: StoredJournal
    let directory: TemporaryDirectory

    init(_ stored: StoredJournal) throws {
        self.stored = stored
        self.directory = try TemporaryDirectory(.memory)
    }

    // MARK: Segments

    /// Changes a byte of a segment, recovers, appends, and recovers again; returns what is wrong.
    func defect(ofSegment file: String, at offset: Int) throws -> String? {
        let hit = self.stored.record(file, offset)
        let disk = MemoryFiles(self.stored.segments)
        disk.files[file] = MemoryFile(self.stored.bytes(of: file, flipping: file, at: offset))
        var (log, outcome) = try self.recover(disk)
        if let defect = self.defect(of: try outcome.rows.map(log.batch), hit) { return defect }
        // A later record changes the newest file only, so other cases need no second recovery.
        guard hit != nil || file == self.stored.newest else { return nil }
        let next = Record(
            sequence: outcome.lastSequence + 1, createTime: 1, eventCount: 7,
            eventTotal: outcome.eventTotal &+ 7, keys: [], payload: [7])
        _ = try log.append(next)
        (log, outcome) = try self.recover(disk)
        var batches = try outcome.rows.map(log.batch)
        guard let last = batches.popLast(), last.sequence == next.sequence, last.payload == [7],
            outcome.eventTotal == next.eventTotal
        else { return "what came after it is not there" }
        return self.defect(of: batches, hit).map { "after the next start: \($0)" }
    }

    private func recover(
        _ disk: MemoryFiles
    ) throws -> (JournalLog, LogRecovery.Outcome) {
        var machine = Machine.local
        machine.files = disk
        let log = try JournalLog(
            directory: disk.path, configuration: .test(segmentBytes: 1000), machine: machine)
        return (log, try log.recover(after: self.stored.checkpoint) { _, _ in })
    }

    /// Only the damaged record may be missing, and it must be reported as lost.
    private func defect(of batches: [JournalBatch], _ hit: Int64?) -> String? {
        let missing = self.missing(from: batches)
        guard missing.map(\.sequence) == (hit.map { [$0] } ?? []) else {
            return "missing: \(missing.map(\.sequence)), hit: \(hit ?? 0)"
        }
        // The one ambiguous case: it looks like an incomplete write.
        let isUntold = self.stored.end == .killed && hit == StoredJournal.last
        let told =
            isUntold
            ? []
            : missing.map {
                LostRecords(sequences: $0.sequence...$0.sequence, eventCount: $0.eventCount)
            }
        let losses = batches.compactMap(\.loss)
        return losses == told ? nil : "told: \(losses), missing: \(told)"
    }

    private func missing(from batches: [JournalBatch]) -> [JournalBatch] {
        self.stored.batches.filter { wanted in
            !batches.contains {
                !$0.isDamaged && $0.sequence == wanted.sequence && $0.payload == wanted.payload
                    && $0.eventCount == wanted.eventCount
            }
        }
    }

    // MARK: The checkpoint

    /// Changes a byte of the checkpoint and starts. Refusing to start is fine: it loses nothing.
    func defect(ofCheckpoint file: String, at offset: Int) async throws -> String? {
        try self.stored.writeCheckpoint(to: self.directory, flipping: file, at: offset)
        var machine = Machine.local
        machine.files = MemoryFiles(self.stored.segments)
        let journal: Journal
        do {
            journal = try Journal(
                directory: self.directory.path, sinks: [JournalSink("a")], configuration: .test(),
                machine: machine, onFailure: { _ in })
        } catch {
            return nil
        }
        journal.finish()
        var batches: [JournalBatch] = []
        var last = journal.cursor(of: "a")
        while let batch = try await journal.batch(after: last) {
            (last, batches) = (batch.sequence, batches + [batch])
        }
        await journal.close()
        let missing = self.missing(from: batches)
        let told = batches.filter { $0.isDamaged && $0.sequence > self.stored.cursor }
        return missing.isEmpty && told.isEmpty
            ? nil : "missing: \(missing.map(\.sequence)), told: \(told.compactMap(\.loss))"
    }
}

struct EveryByteTests {
    /// The defects of all bytes of a file, each with its offset.
    private func defects(
        _ stored: StoredJournal, in files: String,
        where isChosen: @escaping @Sendable (String, Int) -> Bool,
        _ defect: @escaping @Sendable (ByteJudge, String, Int) async throws -> String?
    ) async throws -> [String] {
        let chosen = stored.files.filter { $0.key.hasPrefix(files) }
        #expect(!chosen.isEmpty)
        return try await withThrowingTaskGroup(of: [String].self) { group in
            // Each file in two halves, one per core.
            for (name, bytes) in chosen {
                for half in 0...1 {
                    group.addTask {
                        let judge = try ByteJudge(stored)
                        var defects: [String] = []
                        for offset in bytes.indices
                        where offset % 2 == half && isChosen(name, offset) {
                            // Yield: other tests run on the same cores, some with deadlines.
                            await Task.yield()
                            if let what = try await defect(judge, name, offset) {
                                defects.append("\(name), byte \(offset): \(what)")
                            }
                        }
                        return defects
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    @Test(
        "a byte of a segment that changes costs at most its record, and that is told of",
        arguments: StoredJournal.End.allCases)
    func segments(_ end: StoredJournal.End) async throws {
        let stored = try await StoredJournal(end)
        #expect(stored.records.filter { $0.sequence >= stored.cursor }.count == 6)
        #expect(Set(stored.records.filter { $0.sequence >= stored.cursor }.map(\.file)).count == 3)
        // The checkpoint matters for the newest segment only: later records repeat the rest.
        let defects = try await self.defects(
            stored, in: "segment",
            where: { file, offset in
                end == .killed || file == stored.newest && stored.record(file, offset) != nil
            }
        ) {
            try $0.defect(ofSegment: $1, at: $2)
        }
        #expect(defects.count == 0, "\(defects.prefix(20))")
    }

    @Test(
        "a byte of the checkpoint that changes costs nothing that a sink has yet to get",
        arguments: StoredJournal.End.allCases)
    func checkpoint(_ end: StoredJournal.End) async throws {
        let stored = try await StoredJournal(end)
        // After a kill, the checkpoint is in SQLite's write-ahead log, whose frames have checksums:
        // it does not matter where in a frame a bit flips.
        let (file, stride) = end == .killed ? ("checkpoint.db-wal", 5) : ("checkpoint.db", 1)
        let defects = try await self.defects(
            stored, in: file, where: { _, offset in offset.isMultiple(of: stride) }
        ) {
            try await $0.defect(ofCheckpoint: $1, at: $2)
        }
        #expect(defects.count == 0, "\(defects.prefix(20))")
    }
}
