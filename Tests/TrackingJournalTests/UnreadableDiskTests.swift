// A disk that cannot read a sector (EIO): records are lost, but the server continues.
internal import Foundation
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct UnreadableDiskTests {
    private let directory: TemporaryDirectory
    private let files = UnreadableFiles()

    init() throws { self.directory = try TemporaryDirectory() }

    private func open() throws -> Journal {
        var machine = Machine.local
        machine.files = self.files
        return try Journal(
            directory: self.directory.journal, sinks: [JournalSink("a")], configuration: .test(),
            machine: machine
        ) { Issue.record("the journal has failed: \($0)") }
    }

    /// Three requests, of one, two and three events.
    private func fill(_ journal: Journal) async {
        for id in 1...3 {
            await journal.commit(AdmittedRequest.impressions(id * 10...id * 10 + id - 1))
        }
    }

    /// Reads everything: the sequences of intact batches, and the reported losses.
    private func read(_ journal: Journal) async throws -> (whole: [Int64], lost: [LostRecords]) {
        journal.finish()
        var (whole, lost): ([Int64], [LostRecords]) = ([], [])
        var last: Int64 = 0
        while let batch = try await journal.batch(after: last) {
            last = batch.sequence
            if let loss = batch.loss { lost.append(loss) } else { whole.append(last) }
        }
        return (whole, lost)
    }

    @Test("while a journal runs, a record that cannot be read is lost alone, and told of")
    func running() async throws {
        var journal = try self.open()
        await self.fill(journal)
        await journal.close()
        // Reopened, so that the batches must be read from disk.
        journal = try self.open()
        let bytes = try Data(contentsOf: self.directory.journalFile("segment-1"))
        let second = try bytes.withUnsafeBytes { bytes in
            let first = try #require(FoundRecord(at: SegmentHeader.byteCount, in: bytes))
            return first.endOffset
        }
        self.files.mark("segment-1", second + 50..<second + 51)
        await journal.commit(AdmittedRequest.impressions(40...40))
        let (whole, lost) = try await self.read(journal)
        #expect(whole == [1, 3, 4])
        #expect(lost == [LostRecords(sequences: 2...2, eventCount: 2)])
        await journal.close()
    }

    @Test("at a start, what stood on such a page is told of, and the journal goes on behind it")
    func start() async throws {
        var journal = try self.open()
        await self.fill(journal)
        await journal.close()
        self.files.mark("segment-1", SegmentHeader.byteCount..<SegmentHeader.byteCount + 1)
        journal = try self.open()
        await journal.commit(AdmittedRequest.impressions(40...40))
        let (whole, lost) = try await self.read(journal)
        #expect(whole == [5])
        // The same page may have held another record after the third.
        #expect(
            lost == [
                LostRecords(sequences: 1...3, eventCount: 6),
                LostRecords(sequences: 4...4, eventCount: nil),
            ])
        await journal.close()
    }

    @Test("a segment that cannot be read at all is told of as perhaps lost, and set aside")
    func unreadable() async throws {
        var journal = try self.open()
        await journal.close()
        let segment = self.directory.journalFile("segment-7")
        try Data(count: 20_000).write(to: segment)
        self.files.mark("segment-7", 0..<20_000)
        journal = try self.open()
        await self.fill(journal)
        let (whole, lost) = try await self.read(journal)
        #expect(whole == [2, 3, 4])
        #expect(lost == [LostRecords(sequences: 1...1, eventCount: nil)])
        journal.advance(sink: "a", to: 4)
        await journal.settle()
        await journal.close()
        journal = try self.open()
        await journal.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: self.directory.journal)
        #expect(names.contains("1.damaged") && !names.contains("segment-7"), "\(names)")
    }
}
