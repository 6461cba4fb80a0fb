/// Merges runs into one, some entries at a time.
///
/// Lookups read the output for keys up to its last written page, and the inputs for keys beyond it.
/// So the inputs' pages can be deleted while the output's are written: the file contains each entry
/// about once at any time, and a merge resumes after a restart.
final class RunMerge {
    let inputs: [SortedRun]
    let output: SortedRun
    private let writer: RunWriter
    private let sources: UnsafeMutablePointer<Source>
    /// The number of inputs with entries left. They come first in `sources`.
    private var active = 0
    /// The number of the next page of each input.
    private var nextPage: [Int]
    private let rowBytes: Int

    /// A page of an input, and the page's first entry that is not merged yet.
    private struct Source {
        var high: UInt64
        var low: UInt32
        /// The number of the input.
        var input: UInt32
        /// The offset of that entry in `page`.
        var position: Int
        /// The bytes of `page` that are used.
        var end: Int
        var page: UnsafeMutableRawPointer
    }

    /// Begins a merge, or resumes it if `output` has pages.
    ///
    /// - Precondition: each input is complete and has a page.
    init(_ inputs: [SortedRun], into output: SortedRun, rowBytes: Int, _ tables: IndexTables) throws
    {
        self.inputs = inputs
        self.output = output
        self.rowBytes = rowBytes
        self.nextPage = inputs.map(\.firstPage)
        self.writer = RunWriter(output, rowBytes: rowBytes)
        self.sources = .allocate(capacity: inputs.count)
        for input in inputs.indices {
            self.sources[input] = Source(
                high: 0, low: 0, input: UInt32(truncatingIfNeeded: input), position: 0, end: 0,
                page: .allocate(byteCount: rowBytes, alignment: 8))
        }
        self.active = inputs.count
        try self.writer.resume(tables)
        try self.skipMerged(tables)
        self.limitAnswers()
    }

    deinit {
        for source in self.inputs.indices { self.sources[source].page.deallocate() }
        self.sources.deallocate()
    }

    /// Whether every entry is in the output.
    var isDone: Bool { self.active == 0 }

    /// Merges at least this many entries, unless fewer are left. Finishes the output after the
    /// last.
    ///
    /// - Returns: how many entries were merged.
    func advance(_ entries: Int, _ tables: IndexTables) throws -> Int {
        var merged = 0
        while self.active > 0, merged < entries {
            merged += try self.fillPage(tables)
            if self.writer.filled == self.writer.pageEntries { try self.writer.writePage(tables) }
        }
        if self.active == 0 {
            try self.writer.finish(tables)
        } else {
            self.limitAnswers()
            try self.deletePages(tables)
        }
        return merged
    }

    /// Merges entries until the output's page is full, or an input needs its next one.
    private func fillPage(_ tables: IndexTables) throws -> Int {
        let sources = self.sources
        let active = self.active
        let page = self.writer.page
        let end = self.writer.pageEntries &* IndexEntry.byteCount
        var place = self.writer.filled &* IndexEntry.byteCount
        var isExhausted = false
        var merged = 0
        while place < end, !isExhausted {
            var least = 0
            var isRepeated = false
            for index in 1..<max(active, 1) {
                if sources[index].high > sources[least].high { continue }
                if sources[index].high == sources[least].high {
                    if sources[index].low > sources[least].low { continue }
                    if sources[index].low == sources[least].low {
                        isRepeated = true
                        continue
                    }
                }
                least = index
                isRepeated = false
            }
            let (high, low) = (sources[least].high, sources[least].low)
            var kinds = IndexEntry.kinds(sources[least].page + sources[least].position)
            isExhausted = Self.step(&sources[least])
            merged &+= 1
            if isRepeated {
                for index in 0..<active
                where index != least && sources[index].high == high && sources[index].low == low {
                    kinds |= IndexEntry.kinds(sources[index].page + sources[index].position)
                    if Self.step(&sources[index]) { isExhausted = true }
                    merged &+= 1
                }
            }
            IndexEntry.store(high: high, low: low, kinds: kinds, at: page + place)
            place &+= IndexEntry.byteCount
        }
        self.writer.filled = place / IndexEntry.byteCount
        if isExhausted { try self.refill(tables) }
        return merged
    }

    /// Advances to the next entry; true at the end of the page.
    @inline(__always)
    private static func step(_ source: inout Source) -> Bool {
        source.position &+= IndexEntry.byteCount
        guard source.position < source.end else { return true }
        source.high = IndexEntry.high(source.page + source.position)
        source.low = IndexEntry.low(source.page + source.position)
        return false
    }

    /// Reads the next page of each exhausted page's input. Inputs without further pages become
    /// inactive.
    private func refill(_ tables: IndexTables) throws {
        var index = 0
        while index < self.active {
            guard self.sources[index].position >= self.sources[index].end else {
                index += 1
                continue
            }
            let input = Int(self.sources[index].input)
            let number = self.nextPage[input]
            guard number < self.inputs[input].fences.count else {
                self.active -= 1
                let last = self.sources[self.active]
                self.sources[self.active] = self.sources[index]
                self.sources[index] = last
                continue
            }
            let page = try tables.beginPage(self.inputs[input].id, number)
            defer { tables.endPage() }
            guard page.count <= self.rowBytes, let base = page.baseAddress else {
                throw HitIndexError.damaged("a page is longer than \(self.rowBytes) bytes")
            }
            self.sources[index].page.copyMemory(from: base, byteCount: page.count)
            self.sources[index].end = page.count
            self.sources[index].position = -IndexEntry.byteCount
            _ = Self.step(&self.sources[index])
            self.nextPage[input] = number + 1
            index += 1
        }
    }

    /// Reads the inputs' first pages and skips the entries that the output has.
    private func skipMerged(_ tables: IndexTables) throws {
        try self.refill(tables)
        guard let frontier = self.writer.frontier else { return }
        var index = 0
        while index < self.active {
            let source = self.sources[index]
            guard IndexKey(high: source.high, low: source.low) <= frontier else {
                index += 1
                continue
            }
            // `refill` puts another input in the place of an exhausted one: that one is checked
            // next.
            if Self.step(&self.sources[index]) { try self.refill(tables) }
        }
    }

    /// Sets for which keys lookups read the output, and for which the inputs.
    private func limitAnswers() {
        guard let frontier = self.writer.frontier else {
            // The output has no entries yet: an empty range.
            (self.output.lower, self.output.upper) = (1, 0)
            return
        }
        (self.output.lower, self.output.upper) = (0, frontier.high)
        for input in self.inputs {
            input.lower = frontier.high
            input.filter?.release(
                BloomFilter.block(of: frontier.high, among: input.blocks) * BloomFilter.blockBytes)
        }
    }

    /// Deletes the inputs' pages whose entries the output has.
    private func deletePages(_ tables: IndexTables) throws {
        guard let frontier = self.writer.frontier else { return }
        for input in self.inputs {
            var end = input.firstPage
            // Strictly less: the next page may begin with the frontier's high and another low.
            while end + 1 < input.fences.count, input.fences[end + 1] < frontier.high { end += 1 }
            guard end > input.firstPage else { continue }
            try tables.delete(
                from: IndexRow.page(input.id, input.firstPage), to: IndexRow.page(input.id, end))
            input.firstPage = end
        }
    }
}
