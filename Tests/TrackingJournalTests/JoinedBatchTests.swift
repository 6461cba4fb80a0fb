// Groups that are read together, from memory or from disk.
internal import Foundation
internal import SightlineProtos
@testable internal import Storage
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct JoinedBatchTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// What is read in one go.
    private static let everything = BatchLimit(hits: .max, bytes: .max)

    /// A journal of groups of equal size with two hits each: a click and an open.
    ///
    /// - Parameter isCached: whether all groups are in memory, or only the last one.
    private func journal(groups: Int, isCached: Bool) async throws -> Journal {
        let journal = try Journal.open(self.directory) {
            $0.maxCachedBytes = isCached ? 1 << 20 : 0
        }
        for id in 0..<groups { await journal.commit(TestEvents.push(.opened, id: 0x100 + id)) }
        return journal
    }

    private func sequences(
        _ journal: Journal, after sequence: Int64 = 0, upTo limit: BatchLimit
    ) async throws -> [Int64]? {
        try await journal.batches(after: sequence, upTo: limit)?.map(\.sequence)
    }

    @Test(
        "groups are joined up to a number of hits, and one beyond it waits",
        arguments: [true, false])
    func hits(isCached: Bool) async throws {
        let journal = try await self.journal(groups: 8, isCached: isCached)
        for (hits, count) in [(7, 3), (6, 3), (5, 2), (4, 2), (2, 1)] {
            let limit = BatchLimit(hits: hits, bytes: .max)
            let expected = (1...count).map(Int64.init)
            #expect(try await self.sequences(journal, upTo: limit) == expected, "\(hits)")
        }
        await journal.close()
    }

    @Test(
        "groups are joined up to a number of bytes, and one beyond it waits",
        arguments: [true, false])
    func bytes(isCached: Bool) async throws {
        let journal = try await self.journal(groups: 8, isCached: isCached)
        let bytes = try #require(try await journal.batch(after: 0)).payload.count
        for (more, count) in [(1, 3), (0, 3), (-1, 2)] {
            let limit = BatchLimit(hits: .max, bytes: 3 * bytes + more)
            let expected = (1...count).map(Int64.init)
            #expect(try await self.sequences(journal, upTo: limit) == expected, "\(more)")
        }
        await journal.close()
    }

    @Test(
        "a group that is larger than the limit is read, and alone",
        arguments: [BatchLimit(hits: 1, bytes: .max), BatchLimit(hits: .max, bytes: 1), .oneGroup],
        [true, false])
    func atLeastOne(limit: BatchLimit, isCached: Bool) async throws {
        let journal = try await self.journal(groups: 3, isCached: isCached)
        for sequence in Int64(0)..<3 {
            let read = try await self.sequences(journal, after: sequence, upTo: limit)
            #expect(read == [sequence + 1])
        }
        await journal.close()
    }

    @Test("what is there is read at once: no group waits for another")
    func noWait() async throws {
        let journal = try await self.journal(groups: 1, isCached: true)
        #expect(try await self.sequences(journal, upTo: Self.everything) == [1])
        let reading = Task { try await self.sequences(journal, after: 1, upTo: Self.everything) }
        await journal.commit(TestEvents.impression(0x200))
        #expect(try await reading.value == [2])
        await journal.close()
    }

    @Test("a reader that is behind reads from disk up to what is in memory, and goes on there")
    func fromDiskToMemory() async throws {
        var journal = try await self.journal(groups: 5, isCached: true)
        await journal.close()
        journal = try Journal.open(self.directory)
        for id in 6...8 { await journal.commit(TestEvents.push(.opened, id: 0x100 + id)) }
        #expect(try await self.sequences(journal, upTo: Self.everything) == [1, 2, 3, 4, 5])
        #expect(try await self.sequences(journal, after: 5, upTo: Self.everything) == [6, 7, 8])
        journal.finish()
        #expect(try await self.sequences(journal, after: 8, upTo: Self.everything) == nil)
        await journal.close()
    }

    @Test("more groups than are read in one turn are joined all the same")
    func turns() async throws {
        let journal = try await self.journal(groups: 600, isCached: false)
        // The last one is in memory.
        let expected = (1...599).map(Int64.init)
        #expect(try await self.sequences(journal, upTo: Self.everything) == expected)
        let limit = BatchLimit(hits: 600, bytes: .max)
        #expect(try await self.sequences(journal, upTo: limit) == Array(expected.prefix(300)))
        await journal.close()
    }

    @Test("groups say the same from memory as from disk, also where some hits are duplicates")
    func same() async throws {
        var journal = try Journal.open(self.directory)
        for ids in [[1, 2, 3], [3, 4], [1, 5], [6, 6]] {
            await journal.commit(
                AdmittedRequest.of(
                    ids.map { TestEvents.push($0 % 2 == 0 ? .received : .opened, id: $0) }))
        }
        let cached = try #require(try await journal.batches(after: 0, upTo: Self.everything))
        await journal.close()
        journal = try Journal.open(self.directory)
        let read = try #require(try await journal.batches(after: 0, upTo: Self.everything))
        #expect(cached.map(\.hitCount) == [5, 1, 2, 1])
        #expect(read.map(\.hitCount) == cached.map(\.hitCount))
        #expect(read.map(\.eventCount) == cached.map(\.eventCount))
        #expect(read.map(\.payload) == cached.map(\.payload))
        await journal.close()
    }

    @Test("a damaged group is read alone, and those before and after it without it")
    func damaged() async throws {
        let segment = self.directory.journalFile("segment-1")
        var journal = try await self.journal(groups: 5, isCached: true)
        await journal.close()
        var file = try Data(contentsOf: segment)
        let place = try #require(file.firstRange(of: Data("h102".utf8)))
        file[place.lowerBound] ^= 1
        try file.write(to: segment)
        journal = try Journal.open(self.directory)
        var read: [[Int64]] = []
        while read.joined().count < 5 {
            let batches = try #require(
                try await journal.batches(after: read.last?.last ?? 0, upTo: Self.everything))
            #expect(batches.map(\.isDamaged).contains(true) == (batches.first?.sequence == 3))
            read.append(batches.map(\.sequence))
        }
        #expect(read == [[1, 2], [3], [4, 5]])
        await journal.close()
    }

    @Test("where a group cannot be read for now, those before it are read, and then it is told")
    func unreadableForNow() async throws {
        var journal = try await self.journal(groups: 4, isCached: true)
        await journal.close()
        let files = UnreadableFiles()
        var machine = Machine.local
        machine.files = files
        journal = try Journal(
            directory: self.directory.journal, sinks: [JournalSink("a")], configuration: .test(),
            machine: machine
        ) { Issue.record("the journal has failed: \($0)") }
        let bytes = try Data(contentsOf: self.directory.journalFile("segment-1"))
        let third = try #require(bytes.firstRange(of: Data("h102".utf8)))
        files.mark("segment-1", third, ENOMEM)
        #expect(try await self.sequences(journal, upTo: Self.everything) == [1, 2])
        await #expect(throws: SystemError.self) {
            try await journal.batches(after: 2, upTo: Self.everything)
        }
        files.mark("segment-1", 0..<0)
        #expect(try await self.sequences(journal, after: 2, upTo: Self.everything) == [3, 4])
        await journal.close()
    }
}
