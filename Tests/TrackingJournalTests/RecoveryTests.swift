// What a crash in the middle of a commit leaves.
internal import Foundation
internal import Testing
internal import TrackingCore
@testable internal import TrackingJournal

/// The files of a journal of two commits as a kill would leave them: all in the log, none in the
/// file.
private struct KilledJournal: Sendable {
    let database: Data
    let log: Data
    /// Length of the log after the first commit.
    let firstCommit: Int
    let identity: String
    let first: AdmittedRequest
    let second: AdmittedRequest

    init() async throws {
        let directory = try TemporaryDirectory()
        let journal = try Journal.open(directory)
        self.first = await journal.commit(TestRequests.impressions(1...3))
        self.firstCommit = try Self.read(directory.journal + "-wal").count
        self.second = await journal.commit(TestRequests.impressions(4...5, sequence: 2))
        self.log = try Self.read(directory.journal + "-wal")
        self.database = try Self.read(directory.journal)
        self.identity = journal.identity
        await journal.close()
    }

    private static func read(_ path: String) throws -> Data {
        try Data(contentsOf: URL(filePath: path))
    }

    /// Opens a copy whose log ends after `length` bytes, and says what is wrong with it.
    func defect(cutAt length: Int, in directory: TemporaryDirectory) async throws -> String? {
        try self.database.write(to: URL(filePath: directory.journal))
        try self.log.prefix(length).write(to: URL(filePath: directory.journal + "-wal"))
        let journal = try Journal.open(directory) { $0.windowCapacity = 16 }
        let defect = try await self.defect(of: journal, isWhole: length == self.log.count)
        await journal.close()
        return defect
    }

    private func defect(of journal: Journal, isWhole: Bool) async throws -> String? {
        guard journal.identity == self.identity else { return "another identity" }
        guard journal.lastSequence == (isWhole ? 2 : 1) else { return "another last sequence" }
        guard try journal.store.holds(self.first, after: 0) else {
            return "the first batch differs"
        }
        guard try isWhole || journal.store.batch(after: 1) == nil else { return "half a batch" }
        guard try !isWhole || journal.store.holds(self.second, after: 1) else {
            return "the second batch differs"
        }
        let known = await journal.preview(self.first.claims + self.second.claims)
            .map(\.granted.isEmpty)
        return known == [true, true, true, isWhole, isWhole]
            ? nil : "the window knows \(known)"
    }
}

extension JournalStore {
    /// Whether the row after `sequence` is a request's block, byte for byte.
    fileprivate func holds(_ request: AdmittedRequest, after sequence: Int64) throws -> Bool {
        guard let batch = try self.batch(after: sequence) else { return false }
        return !batch.isDamaged && batch.sequence == sequence + 1
            && batch.eventCount == request.claims.count
            && batch.payload == request.header + request.entries
    }
}

struct RecoveryTests {
    /// Every byte of the commit's frames: 16 KiB of page and 24 bytes of header each.
    @Test("a log cut at every byte of its last commit opens with the commit before it, whole")
    func everyCut() async throws {
        let killed = try await KilledJournal()
        let workers = 3
        let defects = try await withThrowingTaskGroup(of: [String].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    let directory = try TemporaryDirectory(.memory)
                    var defects: [String] = []
                    let first = killed.firstCommit + worker
                    for cut in stride(from: first, through: killed.log.count, by: workers) {
                        if let defect = try await killed.defect(cutAt: cut, in: directory) {
                            defects.append("cut at \(cut) of \(killed.log.count): \(defect)")
                        }
                    }
                    return defects
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(defects == [])
        #expect(killed.log.count > killed.firstCommit)
    }
}
