// Reads the index from the database.
internal import GRDB

extension HitIndex {
    static func secret(_ tables: IndexTables) throws -> IndexSecret {
        let row = try tables.statement("SELECT bytes FROM index_secret")
        defer { row.reset() }
        guard try row.step(), let secret = IndexSecret(row.bytes(0)) else {
            throw HitIndexError.damaged("it has no secret")
        }
        return secret
    }

    /// Replaces the state in memory by the database's.
    ///
    /// - Returns: the number of the newest batch.
    func load(_ tables: IndexTables) throws -> Int64 {
        self.memTable.removeAll()
        (self.runs, self.merges, self.obsolete) = ([], [], [])
        (self.memTableDays, self.today) = (nil, nil)
        (self.nextRun, self.credit) = (1, 0)
        try self.loadRuns(tables)
        self.today = self.runs.map(\.lastDay).max()
        let newest = try self.loadMemTable(tables)
        while try self.loadFilter(tables) {}
        try self.resumeMerges(tables)
        return newest
    }

    private func loadRuns(_ tables: IndexTables) throws {
        let rows = try tables.statement(
            """
            SELECT id, level, state, target, first_day, last_day, entries, pages, blocks
            FROM index_runs ORDER BY id
            """)
        defer { rows.reset() }
        while try rows.step() {
            let id = rows.integer(0)
            guard (1..<1 << 30).contains(id), (0...64).contains(rows.integer(1)),
                let state = SortedRun.State(rawValue: rows.integer(2)),
                let firstDay = Self.day(rows.integer(4)), let lastDay = Self.day(rows.integer(5)),
                firstDay <= lastDay, (0...1 << 40).contains(rows.integer(6)),
                (0...1 << 30).contains(rows.integer(7)), (1...1 << 32).contains(rows.integer(8))
            else { throw HitIndexError.damaged("run \(id) makes no sense") }
            self.nextRun = id + 1
            guard state != .obsolete else {
                self.obsolete.append(id)
                continue
            }
            let run = SortedRun(
                id: id, level: Int(rows.integer(1)), state: state, firstDay: firstDay,
                lastDay: lastDay, blocks: Int(rows.integer(8)))
            run.target = rows.isNull(3) ? nil : rows.integer(3)
            if state == .complete {
                run.entries = Int(rows.integer(6))
                try self.loadFences(of: run, pages: Int(rows.integer(7)), tables)
            }
            self.runs.append(run)
        }
    }

    private static func day(_ stored: Int64) -> Int? {
        (-Int64(Self.maxDay)...Int64(Self.maxDay)).contains(stored) ? Int(stored) : nil
    }

    private func loadFences(of run: SortedRun, pages: Int, _ tables: IndexTables) throws {
        try tables.forEach(from: IndexRow.fences(run.id, 0), to: IndexRow.end(run.id)) { row in
            let size = MemoryLayout<UInt64>.size
            for offset in stride(from: 0, through: row.count - size, by: size) {
                run.fences.append(row.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
        }
        let first = try tables.first(from: IndexRow.page(run.id, 0), to: IndexRow.filter(run.id, 0))
        guard run.fences.count == pages, let first else {
            throw HitIndexError.damaged("run \(run.id) lacks pages")
        }
        run.firstPage = Int(first - IndexRow.page(run.id, 0))
    }

    private func loadMemTable(_ tables: IndexTables) throws -> Int64 {
        // Makes room for all entries: a key may be in several rows, and the limit may have been
        // higher before.
        let sizes = try tables.statement(
            "SELECT coalesce(sum(length(entries)), 0) FROM index_memtable")
        defer { sizes.reset() }
        let stored = try sizes.step() ? Int(sizes.integer(0)) / IndexEntry.byteCount : 0
        if stored > self.memTable.capacity { self.memTable = MemTable(capacity: stored) }
        let rows = try tables.statement(
            "SELECT batch, day, entries FROM index_memtable ORDER BY batch")
        defer { rows.reset() }
        var newest: Int64 = 0
        while try rows.step() {
            newest = rows.integer(0)
            let bytes = rows.bytes(2)
            let count = bytes.count / IndexEntry.byteCount
            guard let day = Self.day(rows.integer(1)), newest >= 0, newest < .max,
                count * IndexEntry.byteCount == bytes.count
            else { throw HitIndexError.damaged("batch \(newest) makes no sense") }
            self.today = day
            guard let base = bytes.baseAddress, count > 0 else { continue }
            let days = self.memTableDays ?? day...day
            self.memTableDays = min(days.lowerBound, day)...max(days.upperBound, day)
            try self.addToMemTable(base, count)
        }
        return newest
    }

    private func addToMemTable(_ entries: UnsafeRawPointer, _ count: Int) throws {
        for number in 0..<count {
            let entry = entries + number &* IndexEntry.byteCount
            let key = IndexEntry.key(entry)
            guard self.memTable.hasRoom(for: key) else {
                throw HitIndexError.damaged("it has more entries in memory than it may have")
            }
            _ = self.memTable.add(IndexEntry.kinds(entry), to: key, knownElsewhere: 0)
        }
        self.memTable.clearChanges()
    }

    private func resumeMerges(_ tables: IndexTables) throws {
        for output in self.runs where output.state == .unfinished {
            let inputs = self.runs.filter { $0.target == output.id && $0.state == .complete }
            guard !inputs.isEmpty else {
                throw HitIndexError.damaged("run \(output.id) lacks the runs it is made of")
            }
            // The merge's writer fills the filter from the pages that are there.
            output.filter = self.filterMemory(
                for: output, replacing: inputs.reduce(0) { $0 + $1.filterBytes })
            try self.addMerge(
                RunMerge(inputs, into: output, rowBytes: self.limits.rowBytes, tables))
        }
    }

    /// Loads the smallest filter that is not in memory and fits.
    ///
    /// - Returns: false if there is none.
    @discardableResult
    func loadFilter(_ tables: IndexTables) throws -> Bool {
        let room = self.limits.filterBytes - self.filterBytes
        let candidates = self.runs.filter {
            $0.filter == nil && $0.state == .complete && $0.blocks * BloomFilter.blockBytes <= room
        }
        guard let run = candidates.min(by: { $0.blocks < $1.blocks }),
            let memory = PageMapping(byteCount: run.blocks * BloomFilter.blockBytes)
        else { return false }
        var place = 0
        try tables.forEach(from: IndexRow.filter(run.id, 0), to: IndexRow.fences(run.id, 0)) {
            row in
            guard let base = row.baseAddress, row.count <= memory.byteCount - place else {
                throw HitIndexError.damaged("the filter of run \(run.id) has a wrong length")
            }
            (memory.start + place).copyMemory(from: base, byteCount: row.count)
            place += row.count
        }
        guard place == memory.byteCount else {
            throw HitIndexError.damaged("the filter of run \(run.id) has a wrong length")
        }
        run.filter = memory
        return true
    }
}
