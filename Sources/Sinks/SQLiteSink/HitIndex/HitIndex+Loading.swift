// Reads the index of counted facts from the database.
internal import GRDB

extension CountedFacts {
    static func secret(_ tables: FactTables) throws -> FactSecret {
        let row = try tables.statement("SELECT bytes FROM fact_secret")
        defer { row.reset() }
        guard try row.step(), let secret = FactSecret(row.bytes(0)) else {
            throw CountedFactsError.damaged("it has no secret")
        }
        return secret
    }

    /// Replaces what is in memory by what the database has; returns the number of its newest batch.
    func load(_ tables: FactTables) throws -> Int64 {
        self.recent.removeAll()
        (self.runs, self.merges, self.dead) = ([], [], [])
        (self.recentDays, self.today) = (nil, nil)
        (self.nextRun, self.credit) = (1, 0)
        try self.loadRuns(tables)
        self.today = self.runs.map(\.lastDay).max()
        let newest = try self.loadRecent(tables)
        while try self.loadFilter(tables) {}
        try self.resumeMerges(tables)
        return newest
    }

    private func loadRuns(_ tables: FactTables) throws {
        let rows = try tables.statement(
            """
            SELECT id, level, state, target, first_day, last_day, entries, pages, blocks
            FROM fact_runs ORDER BY id
            """)
        defer { rows.reset() }
        while try rows.step() {
            let id = rows.integer(0)
            guard (1..<1 << 30).contains(id), (0...64).contains(rows.integer(1)),
                let state = FactRun.State(rawValue: rows.integer(2)),
                let firstDay = Self.day(rows.integer(4)), let lastDay = Self.day(rows.integer(5)),
                firstDay <= lastDay, (0...1 << 40).contains(rows.integer(6)),
                (0...1 << 30).contains(rows.integer(7)), (1...1 << 32).contains(rows.integer(8))
            else { throw CountedFactsError.damaged("run \(id) makes no sense") }
            self.nextRun = id + 1
            guard state != .dead else {
                self.dead.append(id)
                continue
            }
            let run = FactRun(
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

    private func loadFences(of run: FactRun, pages: Int, _ tables: FactTables) throws {
        try tables.forEach(from: FactRow.fences(run.id, 0), to: FactRow.end(run.id)) { row in
            let size = MemoryLayout<UInt64>.size
            for offset in stride(from: 0, through: row.count - size, by: size) {
                run.fences.append(row.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
        }
        let first = try tables.first(from: FactRow.page(run.id, 0), to: FactRow.filter(run.id, 0))
        guard run.fences.count == pages, let first else {
            throw CountedFactsError.damaged("run \(run.id) lacks pages")
        }
        run.firstPage = Int(first - FactRow.page(run.id, 0))
    }

    private func loadRecent(_ tables: FactTables) throws -> Int64 {
        // A key may be in several rows, and the limit may have been higher: room for all.
        let sizes = try tables.statement(
            "SELECT coalesce(sum(length(entries)), 0) FROM recent_facts")
        defer { sizes.reset() }
        let stored = try sizes.step() ? Int(sizes.integer(0)) / FactEntry.byteCount : 0
        if stored > self.recent.capacity { self.recent = RecentFacts(capacity: stored) }
        let rows = try tables.statement(
            "SELECT batch, day, entries FROM recent_facts ORDER BY batch")
        defer { rows.reset() }
        var newest: Int64 = 0
        while try rows.step() {
            newest = rows.integer(0)
            let bytes = rows.bytes(2)
            let count = bytes.count / FactEntry.byteCount
            guard let day = Self.day(rows.integer(1)), newest >= 0, newest < .max,
                count * FactEntry.byteCount == bytes.count
            else { throw CountedFactsError.damaged("batch \(newest) makes no sense") }
            self.today = day
            guard let base = bytes.baseAddress, count > 0 else { continue }
            let days = self.recentDays ?? day...day
            self.recentDays = min(days.lowerBound, day)...max(days.upperBound, day)
            try self.addRecent(base, count)
        }
        return newest
    }

    private func addRecent(_ entries: UnsafeRawPointer, _ count: Int) throws {
        for number in 0..<count {
            let entry = entries + number &* FactEntry.byteCount
            let key = FactEntry.key(entry)
            guard self.recent.hasRoom(for: key) else {
                throw CountedFactsError.damaged("more recent facts than the limit")
            }
            _ = self.recent.add(FactEntry.kinds(entry), to: key, knownElsewhere: 0)
        }
        self.recent.forgetChanges()
    }

    private func resumeMerges(_ tables: FactTables) throws {
        for output in self.runs where output.state == .unfinished {
            let inputs = self.runs.filter { $0.target == output.id && $0.state == .complete }
            guard !inputs.isEmpty else {
                throw CountedFactsError.damaged("run \(output.id) lacks the runs it is made of")
            }
            // The writer fills it from the pages.
            output.filter = self.filterMemory(
                for: output, replacing: inputs.reduce(0) { $0 + $1.filterBytes })
            try self.addMerge(
                FactMerge(inputs, into: output, rowBytes: self.limits.rowBytes, tables))
        }
    }

    /// Loads the filter of a run that has none and would fit, the smallest first; false if there is
    /// no such run.
    @discardableResult
    func loadFilter(_ tables: FactTables) throws -> Bool {
        let room = self.limits.filterBytes - self.filterBytes
        let candidates = self.runs.filter {
            $0.filter == nil && $0.state == .complete && $0.blocks * FactFilter.blockBytes <= room
        }
        guard let run = candidates.min(by: { $0.blocks < $1.blocks }),
            let memory = SparseMemory(byteCount: run.blocks * FactFilter.blockBytes)
        else { return false }
        var place = 0
        try tables.forEach(from: FactRow.filter(run.id, 0), to: FactRow.fences(run.id, 0)) { row in
            guard let base = row.baseAddress, row.count <= memory.byteCount - place else {
                throw CountedFactsError.damaged("the filter of run \(run.id) has a wrong length")
            }
            (memory.start + place).copyMemory(from: base, byteCount: row.count)
            place += row.count
        }
        guard place == memory.byteCount else {
            throw CountedFactsError.damaged("the filter of run \(run.id) has a wrong length")
        }
        run.filter = memory
        return true
    }
}
