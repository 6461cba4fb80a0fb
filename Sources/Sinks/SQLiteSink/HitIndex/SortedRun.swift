internal import WireFormat

/// A sorted run of entries. Its pages are rows of `index_pages`; memory holds the first key of each
/// page and the filter.
final class SortedRun {
    /// Raw values are stored in `index_runs`: never change them.
    enum State: Int64 {
        case complete = 0
        /// The output of a merge in progress.
        case unfinished = 1
        /// Retired: its rows are being deleted.
        case obsolete = 2
    }

    let id: Int64
    /// How many merges its entries have been through.
    let level: Int
    /// The first day on which an entry of it was added, since 1970.
    let firstDay: Int
    /// The last such day.
    let lastDay: Int
    /// The number of blocks of its filter.
    let blocks: Int
    var state: State
    /// The run into which this one is being merged.
    var target: Int64?
    var entries = 0
    /// `high` of each page's first entry.
    var fences: [UInt64] = []
    /// The number of the first page that exists. A merge has deleted those before it.
    var firstPage = 0
    /// The Bloom filter; nil where it does not fit into memory. Lookups then always read a page.
    var filter: PageMapping?
    /// Lookups read this run for keys whose `high` is in `lower...upper`. During a merge, other
    /// keys are in its output or still in its inputs.
    var lower: UInt64 = 0
    var upper: UInt64 = .max

    init(
        id: Int64, level: Int, state: State, firstDay: Int, lastDay: Int, blocks: Int
    ) {
        self.id = id
        self.level = level
        self.state = state
        self.firstDay = firstDay
        self.lastDay = lastDay
        self.blocks = blocks
    }

    var filterBytes: Int { self.filter?.byteCount ?? 0 }

    /// Whether it is complete and in no merge.
    var isFree: Bool { self.state == .complete && self.target == nil }

    /// Writes the numbers of the keys that the run may hold to `batch.found`.
    ///
    /// - Returns: how many there are.
    func candidates(of batch: KeyBatch) -> Int {
        let keys = batch.keys
        let found = batch.found
        let lower = self.lower
        guard self.upper >= lower else { return 0 }
        let width = self.upper &- lower
        let keyCount = batch.count
        var count = 0
        guard let filter = self.filter else {
            let order = batch.sortedNumbers()
            for index in 0..<keyCount {
                found[count] = order[index]
                count &+= keys[Int(order[index])].high &- lower <= width ? 1 : 0
            }
            return count
        }
        let words = filter.start.assumingMemoryBound(to: UInt64.self)
        let blocks = self.blocks
        let bits = batch.bits
        var first = 0
        while first < keyCount {
            let end = min(first &+ Self.keysAtOnce, keyCount)
            // Prefetches the blocks: a loop with so little work lets the processor load many of
            // them in parallel.
            var sum: UInt64 = 0
            for index in first..<end {
                let block = BloomFilter.block(of: keys[index].high, among: blocks)
                sum ^= words[block &* BloomFilter.wordsInBlock]
            }
            batch.prefetched ^= sum
            for index in first..<end {
                let high = keys[index].high
                let block = BloomFilter.block(of: high, among: blocks)
                let held = BloomFilter.holds(
                    bits[index], words + block &* BloomFilter.wordsInBlock)
                found[count] = UInt32(truncatingIfNeeded: index)
                count &+= Int(truncatingIfNeeded: held) & (high &- lower <= width ? 1 : 0)
            }
            first = end
        }
        return count
    }

    /// The number of keys whose blocks fit into a quarter of a level-1 cache of 32 KiB.
    private static let keysAtOnce = 128

    /// Adds the kinds that this run has of the batch's keys to `batch.known`.
    func lookUp(_ batch: KeyBatch, _ tables: IndexTables) throws {
        let count = self.candidates(of: batch)
        guard count > 0 else { return }
        let fences = self.fences
        // With many candidates, reads each page once, in order.
        if self.filter != nil, count > fences.count / 4 { batch.sortFound(count) }
        var loaded = -1
        var page = Bytes(start: nil, count: 0)
        defer { tables.endPage() }
        for index in 0..<count {
            let number = Int(batch.found[index])
            let key = batch.keys[number]
            var candidate = Self.page(of: key.high, in: fences)
            while candidate >= self.firstPage {
                if candidate != loaded {
                    page = try tables.beginPage(self.id, candidate)
                    loaded = candidate
                }
                let kinds = IndexEntry.find(key, in: page)
                batch.known[number] |= kinds
                // The last keys of the page before may have the same `high` as this one's first.
                guard kinds == 0, fences[candidate] == key.high else { break }
                candidate -= 1
            }
        }
    }

    /// The last page whose first entry's `high` is at most this one; -1 if there is none.
    static func page(of high: UInt64, in fences: [UInt64]) -> Int {
        var first = 0
        var last = fences.count
        while first < last {
            let middle = (first &+ last) / 2
            if fences[middle] <= high { first = middle &+ 1 } else { last = middle }
        }
        return first &- 1
    }
}
