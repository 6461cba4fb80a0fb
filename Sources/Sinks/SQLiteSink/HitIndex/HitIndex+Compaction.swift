// Flushes the MemTable, merges runs, and expires and deletes old ones.
internal import GRDB
internal import Pacing

extension HitIndex {
    /// The number of runs that are merged into one of the next level.
    private static let fanIn = 4
    /// The maximum number of runs that are merged into one in a past window.
    private static let maxInputs = 16
    /// The number of entries merged per added entry. An entry is merged once per level, and there
    /// are at most this many levels.
    private static let share = 8
    /// The minimum number of rows that are deleted in a transaction.
    private static let fewestRows = 4

    /// Writes the MemTable as a run of level 0, and empties it.
    func flush(_ days: ClosedRange<Int>, _ tables: IndexTables) throws {
        let entries = self.memTable.sorted()
        let run = try self.makeRun(
            level: 0, days: days, entries: entries.count, replacing: 0, tables)
        let writer = RunWriter(run, rowBytes: self.limits.rowBytes)
        for entry in entries {
            IndexEntry.store(
                high: entry.high, low: entry.low, kinds: entry.kinds,
                at: writer.page + writer.filled &* IndexEntry.byteCount)
            writer.filled &+= 1
            if writer.filled == writer.pageEntries { try writer.writePage(tables) }
        }
        try writer.finish(tables)
        try tables.statement("DELETE FROM index_memtable").run()
        self.memTable.removeAll()
        self.memTableDays = nil
        self.runs.append(run)
    }

    /// Retires runs that are too old. Those of days ahead, which a wrong clock has left, stay until
    /// their day has passed: the clock may be wrong now, and was right then.
    func expire(_ today: RetentionTime, _ tables: IndexTables) throws {
        let days = Int64(self.limits.uniqueDays)
        for run in self.runs where run.target == nil {
            guard today.isOver(Int64(run.lastDay), keeping: days) else { continue }
            if let index = self.merges.firstIndex(where: { $0.output === run }) {
                for input in self.merges[index].inputs { try self.retire(input, tables) }
                self.merges.remove(at: index)
            }
            try self.retire(run, tables)
        }
    }

    /// Begins merges, merges some entries, and deletes some rows of retired runs.
    ///
    /// - Parameter added: the number of entries that this batch has added.
    func maintain(_ added: Int, _ tables: IndexTables) throws {
        try self.startMerges(tables)
        self.credit += added * Self.share
        while self.credit >= self.limits.rowBytes / IndexEntry.byteCount,
            let merge = self.merges.first
        {
            self.hasWritten = true
            self.credit -= try merge.advance(self.credit, tables)
            guard merge.isDone else { continue }
            for input in merge.inputs { try self.retire(input, tables) }
            self.merges.removeFirst()
        }
        if self.merges.isEmpty { self.credit = 0 }
        let rows = added * Self.share * IndexEntry.byteCount / self.limits.rowBytes
        try self.deleteRows(max(rows, Self.fewestRows), tables)
        try self.loadFilter(tables)
    }

    /// Begins at most one merge for each level of the current window, and one for all past windows.
    /// A past window gets no further runs, so all of its runs become one.
    private func startMerges(_ tables: IndexTables) throws {
        let current = self.window(self.today ?? 0)
        let free = self.runs.filter(\.isFree)
        let levels = Set(free.map(\.level))
        for level in levels.sorted() {
            let inputs = free.filter {
                $0.level == level && self.window($0.firstDay) == current
            }
            guard inputs.count >= Self.fanIn,
                !self.merges.contains(where: {
                    $0.output.level == level + 1 && self.window($0.output.firstDay) == current
                })
            else { continue }
            try self.startMerge(Array(inputs.prefix(Self.fanIn)), level: level + 1, tables)
        }
        let past = Set(free.map { self.window($0.firstDay) }).filter { $0 != current }
        for window in past.sorted() {
            let isMerging = self.merges.contains { self.window($0.output.firstDay) == window }
            let inputs = free.filter { self.window($0.firstDay) == window }
            guard !isMerging, inputs.count > 1 else { continue }
            let smallest = inputs.sorted { $0.entries < $1.entries }.prefix(Self.maxInputs)
            let level = smallest.map(\.level).max() ?? 0
            try self.startMerge(Array(smallest), level: max(level, 1), tables)
            return
        }
    }

    private func startMerge(_ inputs: [SortedRun], level: Int, _ tables: IndexTables) throws {
        guard let first = inputs.map(\.firstDay).min(), let last = inputs.map(\.lastDay).max()
        else { return }
        let output = try self.makeRun(
            level: level, days: first...max(first, last),
            entries: inputs.reduce(0) { $0 + $1.entries },
            replacing: inputs.reduce(0) { $0 + $1.filterBytes }, tables)
        let update = try tables.statement("UPDATE index_runs SET target = ? WHERE id = ?")
        for input in inputs {
            try update.run(output.id, input.id)
            input.target = output.id
        }
        self.runs.append(output)
        try self.addMerge(
            RunMerge(inputs, into: output, rowBytes: self.limits.rowBytes, tables))
    }

    func addMerge(_ merge: RunMerge) {
        func size(_ merge: RunMerge) -> Int { merge.inputs.reduce(0) { $0 + $1.entries } }
        let place = self.merges.firstIndex { size(merge) < size($0) }
        self.merges.insert(merge, at: place ?? self.merges.endIndex)
    }

    /// Stores a new run without entries.
    ///
    /// - Parameters:
    ///   - entries: the maximum number of entries.
    ///   - replacing: the bytes of the inputs' filters, which are released while this run's fills.
    private func makeRun(
        level: Int, days: ClosedRange<Int>, entries: Int, replacing: Int, _ tables: IndexTables
    ) throws -> SortedRun {
        let run = SortedRun(
            id: self.nextRun, level: level, state: .unfinished, firstDay: days.lowerBound,
            lastDay: days.upperBound,
            blocks: BloomFilter.blockCount(entries: entries, level: level))
        self.nextRun += 1
        self.hasWritten = true
        try tables.statement(
            """
            INSERT INTO index_runs
                (id, level, state, target, first_day, last_day, entries, pages, blocks)
            VALUES (?, ?, ?, NULL, ?, ?, 0, 0, ?)
            """
        ).run(
            run.id, Int64(level), run.state.rawValue, Int64(run.firstDay), Int64(run.lastDay),
            Int64(run.blocks))
        run.filter = self.filterMemory(for: run, replacing: replacing)
        return run
    }

    /// Memory for a run's filter; nil if it does not fit into the limit.
    func filterMemory(for run: SortedRun, replacing: Int) -> PageMapping? {
        let others = self.filterBytes - replacing
        let byteCount = run.blocks * BloomFilter.blockBytes
        guard max(byteCount, replacing) <= self.limits.filterBytes - others else { return nil }
        return PageMapping(byteCount: byteCount)
    }

    /// The bytes of all filters. While a merge fills the filter of its output it releases those of
    /// its inputs, so only the larger of the two counts.
    var filterBytes: Int {
        var bytes = 0
        for run in self.runs where run.target == nil {
            var inputs = 0
            for input in self.runs where input.target == run.id { inputs += input.filterBytes }
            bytes += max(run.filterBytes, inputs)
        }
        return bytes
    }

    /// Takes a run out of use. `deleteRows` deletes its rows later.
    private func retire(_ run: SortedRun, _ tables: IndexTables) throws {
        self.hasWritten = true
        try tables.statement("UPDATE index_runs SET state = ?, target = NULL WHERE id = ?").run(
            SortedRun.State.obsolete.rawValue, run.id)
        run.state = .obsolete
        self.runs.removeAll { $0 === run }
        self.obsolete.append(run.id)
    }

    /// Deletes up to `count` rows of retired runs.
    private func deleteRows(_ count: Int, _ tables: IndexTables) throws {
        var left = count
        while left > 0, let run = self.obsolete.first {
            self.hasWritten = true
            if let row = try tables.first(from: IndexRow.page(run, 0), to: IndexRow.end(run)) {
                left -= try tables.delete(
                    from: row, to: min(row + Int64(left), IndexRow.end(run)))
            } else {
                try tables.statement("DELETE FROM index_runs WHERE id = ?").run(run)
                self.obsolete.removeFirst()
                left -= 1
            }
        }
    }
}
