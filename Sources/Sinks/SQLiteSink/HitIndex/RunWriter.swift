internal import WireFormat

/// Writes a run in the order of its keys: the pages, each row of the filter once it is complete,
/// and at the end the fences (the first `high` of each page). Besides the filter that lookups use,
/// it needs the memory of two rows.
///
/// After a restart it rebuilds the same filter and fences from the written pages.
final class RunWriter {
    let run: SortedRun
    /// The last key of the last written page; nil before the first.
    private(set) var frontier: IndexKey?
    /// The number of entries in a full page.
    let pageEntries: Int
    /// The page being filled, by the owner of this writer.
    let page: UnsafeMutableRawPointer
    /// The number of entries in `page`.
    var filled = 0
    private let fencesInRow: Int
    /// The number of blocks in a row of the filter.
    private let chunkBlocks: Int
    /// The number of the filter row being filled.
    private var chunk = 0
    /// The blocks of that row, if the run has no filter in memory.
    private let chunkWords: UnsafeMutablePointer<UInt64>

    /// - Parameter rowBytes: the maximum length of a row of `index_pages`, at least 64 bytes.
    init(_ run: SortedRun, rowBytes: Int) {
        self.run = run
        self.pageEntries = rowBytes / IndexEntry.byteCount
        self.chunkBlocks = rowBytes / BloomFilter.blockBytes
        self.fencesInRow = rowBytes / MemoryLayout<UInt64>.size
        self.page = .allocate(byteCount: self.pageEntries * IndexEntry.byteCount, alignment: 8)
        self.chunkWords = .allocate(capacity: self.chunkBlocks * BloomFilter.wordsInBlock)
        self.chunkWords.initialize(repeating: 0, count: self.chunkBlocks * BloomFilter.wordsInBlock)
    }

    deinit {
        self.page.deallocate()
        self.chunkWords.deallocate()
    }

    /// Writes the filled page.
    func writePage(_ tables: IndexTables) throws {
        let page = Bytes(
            start: self.page, count: self.filled * IndexEntry.byteCount)
        try tables.insert(page, at: IndexRow.page(self.run.id, self.run.fences.count))
        try self.note(page, tables)
        self.filled = 0
    }

    /// Reads the pages that were written before a restart.
    func resume(_ tables: IndexTables) throws {
        let run = self.run.id
        try tables.forEach(from: IndexRow.page(run, 0), to: IndexRow.filter(run, 0)) { page in
            guard !page.isEmpty, page.count.isMultiple(of: IndexEntry.byteCount) else {
                throw HitIndexError.damaged("a page of run \(run) has a wrong length")
            }
            try self.note(page, nil)
        }
    }

    /// Writes the last page, the rest of the filter and the fences. That completes the run.
    func finish(_ tables: IndexTables) throws {
        if self.filled > 0 { try self.writePage(tables) }
        while self.chunk * self.chunkBlocks < self.run.blocks { try self.endChunk(tables) }
        try self.run.fences.withUnsafeBufferPointer { fences in
            for (number, first) in stride(from: 0, to: fences.count, by: self.fencesInRow)
                .enumerated()
            {
                let row = fences[first..<min(first + self.fencesInRow, fences.count)]
                try tables.insert(
                    Bytes(UnsafeBufferPointer(rebasing: row)),
                    at: IndexRow.fences(self.run.id, number))
            }
        }
        try tables.statement(
            "UPDATE index_runs SET state = ?, entries = ?, pages = ? WHERE id = ?"
        ).run(
            SortedRun.State.complete.rawValue, Int64(self.run.entries),
            Int64(self.run.fences.count), self.run.id)
        self.run.state = .complete
        (self.run.lower, self.run.upper) = (0, .max)
    }

    /// Adds a written page to the fences and the filter, and writes the rows of the filter that it
    /// completes.
    ///
    /// - Parameter tables: nil for a page from before a restart, whose filter rows are written.
    private func note(_ page: Bytes, _ tables: IndexTables?) throws {
        guard let base = page.baseAddress else { return }
        let count = page.count / IndexEntry.byteCount
        self.run.fences.append(IndexEntry.high(base))
        self.run.entries += count
        let blocks = self.run.blocks
        var index = 0
        while index < count {
            let words = self.words
            let first = self.chunk &* self.chunkBlocks
            let end = first &+ self.chunkBlocks
            while index < count {
                let key = IndexEntry.key(base + index &* IndexEntry.byteCount)
                let block = BloomFilter.block(of: key.high, among: blocks)
                guard block < end else { break }
                guard block >= first else {
                    throw HitIndexError.damaged("run \(self.run.id) is not sorted")
                }
                BloomFilter.set(
                    BloomFilter.bits(of: key),
                    in: words + (block &- first) &* BloomFilter.wordsInBlock)
                index &+= 1
            }
            if index < count { try self.endChunk(tables) }
        }
        self.frontier = IndexEntry.key(base + (count &- 1) &* IndexEntry.byteCount)
    }

    /// The first block of the filter's row that is being filled.
    private var words: UnsafeMutablePointer<UInt64> {
        guard let filter = self.run.filter else { return self.chunkWords }
        let chunk = filter.start + self.chunk &* self.chunkBlocks &* BloomFilter.blockBytes
        return chunk.assumingMemoryBound(to: UInt64.self)
    }

    private func endChunk(_ tables: IndexTables?) throws {
        let blocks = min(self.chunkBlocks, self.run.blocks - self.chunk * self.chunkBlocks)
        let row = Bytes(start: self.words, count: blocks * BloomFilter.blockBytes)
        try tables?.insert(row, at: IndexRow.filter(self.run.id, self.chunk))
        if self.run.filter == nil {
            self.chunkWords.update(
                repeating: 0, count: self.chunkBlocks * BloomFilter.wordsInBlock)
        }
        self.chunk += 1
    }
}
