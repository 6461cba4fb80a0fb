// Groups that are delivered together.
internal import Delivery
internal import Foundation
internal import GRDB
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

/// Takes every batch, and says so.
private final class TellingSink: Sink {
    let name = "telling"
    let maxBatch = BatchLimit.standard
    let taken = AsyncStream.makeStream(of: Int64.self)

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        self.taken.continuation.yield(hits.sequence)
        return .delivered
    }
}

extension ForwarderTests {
    /// A journal of groups of two hits each, which are kept after their delivery.
    private func groups(_ count: Int, _ sink: String) async throws -> Journal {
        let journal = try await self.journal(
            sink, commits: 0x101...0x100 + count, retainSeconds: 600)
        journal.finish()
        return journal
    }

    @Test(
        "a sink that is behind gets groups joined up to its limit or the configured one, in order",
        arguments: [
            (BatchLimit(hits: 6, bytes: .max), .standard, [3, 6, 7]),
            (BatchLimit(hits: 5, bytes: .max), .standard, [2, 4, 6, 7]),
            (.standard, BatchLimit(hits: 6, bytes: .max), [3, 6, 7]),
            (BatchLimit(hits: 1, bytes: .max), .standard, [1, 2, 3, 4, 5, 6, 7]),
            (.standard, .standard, [7]),
        ] as [(BatchLimit, BatchLimit, [Int64])])
    func joined(
        _ row: (asked: BatchLimit, configured: BatchLimit, sequences: [Int64])
    ) async throws {
        let journal = try await self.groups(7, "recording")
        let sink = RecordingSink(maxBatch: row.asked)
        try await self.forwarder(journal, sink, maxBatch: row.configured).run()
        #expect(sink.sequences == row.sequences)
        #expect(sink.batches.flatMap(\.groups).map(\.sequence) == Array(1...7))
        let ids = try sink.batches.flatMap { try $0.records }.map(\.broadlogID)
        #expect(ids == (1...7).flatMap { ["h10\($0)", "h10\($0)"] })
        #expect(journal.cursor(of: "recording") == 7)
        #expect(try self.counts() == [14, 0, 0, Int64(row.sequences.count)])
        await journal.close()
    }

    @Test("bytes are joined up to the limit, and one beyond it waits")
    func joinedBytes() async throws {
        let journal = try await self.groups(6, "recording")
        let group = try #require(try await journal.batches(after: 0, upTo: .oneGroup)?.first)
        for (more, sequences) in [(0, [3, 6]), (-1, [2, 4, 6])] {
            let limit = BatchLimit(hits: .max, bytes: 3 * group.payload.count + more)
            let sink = RecordingSink(maxBatch: limit)
            try await self.forwarder(journal, sink, maxBatch: limit).run()
            #expect(sink.sequences == sequences.map(Int64.init))
            #expect(sink.batches.allSatisfy { $0.payload.count <= limit.bytes })
            journal.rewind(sink: "recording")
        }
        await journal.close()
    }

    @Test("a sink that has caught up gets each group at once: none waits for another")
    func caughtUp() async throws {
        let journal = try await self.journal("telling")
        let sink = TellingSink()
        let forwarder = try self.forwarder(journal, sink)
        async let running: Void = forwarder.run()
        var taken = sink.taken.stream.makeAsyncIterator()
        for id in 1...3 {
            try await self.commit([TestEvents.full(id: id)], to: journal)
            // It would not come if the forwarder waited for the next group.
            #expect(await taken.next() == Int64(id))
        }
        journal.finish()
        try await running
        await journal.close()
    }

    @Test("a dead letter has the same key, however its group was joined")
    func stableKeys() async throws {
        let journal = try await self.groups(6, "choosy")
        var keys: [[String]] = []
        for groups in [6, 4, 3, 1] {
            let sink = ChoosySink(maxBatch: BatchLimit(hits: groups * 2, bytes: .max)) { hit in
                hit.kind == .open && hit.key.high % 3 > 0
            }
            try await self.forwarder(journal, sink).run()
            #expect(sink.attempts.first?.count == groups)
            #expect(journal.cursor(of: "choosy") == 6)
            let letters = try self.letters()
            keys.append(
                letters.map { row in
                    "\(row["sequence"] as Int) \(row["position"] as Int) "
                        + (row["hit_id"] as Data).hex
                })
            // The second hit of each group is its open.
            #expect(letters.allSatisfy { $0["position"] == 1 })
            journal.rewind(sink: "choosy")
        }
        #expect(keys.first?.isEmpty == false)
        #expect(Set(keys).count == 1, "\(keys)")
        await journal.close()
    }

    @Test("of joined groups only the one that cannot be read becomes dead letters")
    func unreadableGroup() async throws {
        let journal = try await self.groups(7, "choosy")
        let sink = ChoosySink(maxBatch: BatchLimit(hits: 10, bytes: .max), unreadable: [3])
        try await self.forwarder(journal, sink).run()
        #expect(sink.attempts == [[1, 2, 3, 4, 5], [1], [2], [3], [4], [5], [6, 7]])
        #expect(try self.letters().map { $0["sequence"] as Int } == [3, 3])
        #expect(journal.cursor(of: "choosy") == 7)
        #expect(try self.counts() == [12, 0, 2, 5])
        await journal.close()
    }

    @Test("a sink that loses joined groups is fed all of them again")
    func lostGroups() async throws {
        let journal = try await self.groups(3, "losing")
        let sink = LosingSink(losses: [3], maxBatch: .standard)
        try await self.forwarder(journal, sink).run()
        #expect(sink.sequences == [3, 3])
        #expect(journal.resumeToken(of: "losing") == "token 3")
        await journal.close()
    }

    @Test("a damaged group among others is kept as a dead letter, and the others are delivered")
    func damagedAmongOthers() async throws {
        var journal = try await self.journal("recording", commits: 0xaaa1...0xaaa5)
        await journal.close()
        let file = URL(filePath: self.directory.file("journal/segment-1"))
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.firstRange(of: Data("haaa3".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: file)
        journal = try await self.journal("recording")
        journal.finish()
        let sink = RecordingSink(maxBatch: .standard)
        try await self.forwarder(journal, sink).run()
        #expect(sink.batches.map { $0.groups.map(\.sequence) } == [[1, 2], [4, 5]])
        #expect(try self.letters().map { $0["sequence"] as Int } == [3])
        #expect(journal.cursor(of: "recording") == 5)
        await journal.close()
    }
}
