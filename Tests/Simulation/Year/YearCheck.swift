// Compares what a server keeps with the oracle.
internal import GRDB
internal import Operations
internal import SQLiteSink
internal import TrackingJournal
internal import TrackingRules

/// What has to be true at the end of a process, while it still runs.
struct YearCheck {
    let plan: YearPlan
    let book: YearBook
    let directory: String
    /// The days since 1970.
    let today: Int64
    /// Whether the time of day was not set far back of late: what was received then is too old at
    /// once, and deleted with a later batch.
    let isSettled: Bool

    /// - Throws: `Violation`, or SQLite's error.
    func check(_ ledger: Ledger, _ keys: SubjectKeys) throws {
        try self.checkCounts()
        try self.checkSteps()
        try self.checkForgotten(keys)
        try self.checkTotals()
        try self.compare(
            "rows of hits.db", try self.days(of: "hits", in: "hits.db"), self.book.rows.days,
            kept: self.plan.sqlite.retainDays)
        try self.compare(
            "events in quarantine.db", try self.days(of: "events", in: "quarantine.db"),
            self.book.quarantined.days, kept: self.plan.quarantine.retainDays)
        try self.check(ledger)
    }

    private func read<Value>(
        _ name: String, _ body: (Database) throws -> Value
    ) throws -> Value {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: "\(self.directory)/\(name)", configuration: configuration)
            .read(body)
    }

    /// Rows by the day of receipt.
    private func days(of table: String, in file: String) throws -> [Int64: Int] {
        try self.read(file) { database in
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT receive_time / \(YearClock.day), count(*) FROM \(table) GROUP BY 1")
            return try rows.reduce(into: [:]) { days, row in
                days[try row.decode(Int64.self, atIndex: 0)] = try row.decode(Int.self, atIndex: 1)
            }
        }
    }

    /// What is kept by its age. A clock that is wrong by a day may delete a day too early.
    ///
    /// - Parameter kept: the days that it is kept.
    private func compare(
        _ what: String, _ found: [Int64: Int], _ owed: [Int64: Int], kept: Int
    ) throws {
        let oldest = self.today - Int64(kept)
        for day in Set(found.keys).union(owed.keys).sorted() where day > oldest + 2 {
            let (there, due) = (found[day] ?? 0, owed[day] ?? 0)
            guard there != due else { continue }
            throw Violation(
                "day \(self.today - day) before today (\(day)): \(there) \(what), not \(due)")
        }
        guard self.isSettled, let old = found.first(where: { $0.key < oldest - 2 && $0.value > 0 })
        else { return }
        throw Violation(
            "\(old.value) \(what) are \(self.today - old.key) days old, and are kept for \(kept)")
    }

    /// Each fact counts once, from the first day on.
    private func checkCounts() throws {
        let found = try self.read("hits.db") { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT tenant || ' ' || delivery_id, impressions + impressions_ios,
                        clicks + clicks_ios, opens + opens_ios, attempted, sent, failed, skipped
                    FROM funnel
                    """
            ).reduce(into: [String: YearBook.Funnel]()) { funnels, row in
                funnels[try row.decode(String.self, atIndex: 0)] = YearBook.Funnel(
                    impressions: try row.decode(Int.self, atIndex: 1),
                    clicks: try row.decode(Int.self, atIndex: 2),
                    opens: try row.decode(Int.self, atIndex: 3),
                    attempted: try row.decode(Int.self, atIndex: 4),
                    sent: try row.decode(Int.self, atIndex: 5),
                    failed: try row.decode(Int.self, atIndex: 6),
                    skipped: try row.decode(Int.self, atIndex: 7))
            }
        }
        for name in Set(found.keys).union(self.book.funnels.keys).sorted() {
            guard found[name] != self.book.funnels[name] else { continue }
            throw Violation(
                "the counts of \(name) are \(found[name].map { "\($0)" } ?? "none"), not "
                    + "\(self.book.funnels[name].map { "\($0)" } ?? "any")")
        }
    }

    /// Each hit is counted in its step: the hour of its receipt, later the day, and then the month.
    /// Some 200 rows are due on a day and 1,600 in a month, and each batch folds 1,000.
    private func checkSteps() throws {
        let (found, bounds) = try self.read("hits.db") { database in
            let counts = try Row.fetchAll(
                database, sql: "SELECT hour, sum(hits) FROM counts GROUP BY hour")
            let bounds = try Row.fetchAll(database, sql: "SELECT name, value FROM bounds")
            return (
                try counts.reduce(into: [Int64: Int]()) { hours, row in
                    hours[try row.decode(Int64.self, atIndex: 0)] = try row.decode(
                        Int.self, atIndex: 1)
                },
                try bounds.reduce(into: [String: Int64]()) { bounds, row in
                    bounds[try row.decode(String.self, atIndex: 0)] = try row.decode(
                        Int64.self, atIndex: 1)
                }
            )
        }
        let steps = CountSteps(
            days: bounds[CountSteps.daysName] ?? 0, months: bounds[CountSteps.monthsName] ?? 0)
        // A clock that was ahead by a day or two, and not doubted, has folded a day earlier.
        let due = (self.today - Int64(YearPlan.hourlyDays)) * CountSteps.hoursPerDay
        guard (due...due + 2 * CountSteps.hoursPerDay).contains(steps.days) else {
            throw Violation("hits are counted by the day before hour \(steps.days), not \(due)")
        }
        let owed = self.book.hits.reduce(into: [Int64: Int]()) { owed, hour in
            owed[steps.step(of: hour.key).lowerBound, default: 0] += hour.value
        }
        for hour in Set(found.keys).union(owed.keys).sorted() where found[hour] != owed[hour] {
            throw Violation(
                "the hits counted from hour \(hour) on are \(found[hour] ?? 0), not "
                    + "\(owed[hour] ?? 0), with \(steps)")
        }
    }

    /// Nobody who was forgotten is there, whichever key has hashed the id.
    private func checkForgotten(_ keys: SubjectKeys) throws {
        let ids = self.book.forgotten.flatMap { keys.ids(of: $0.subject, tenant: $0.tenant) }
        guard !ids.isEmpty else { return }
        let found = try self.read("hits.db") { database in
            try Int.fetchOne(
                database,
                sql: """
                    SELECT count(*) FROM hits WHERE subject_id IN (
                        \(databaseQuestionMarks(count: ids.count)))
                    """, arguments: StatementArguments(ids)) ?? 0
        }
        if found > 0 { throw Violation("\(found) rows of hits.db name a forgotten subject") }
    }

    /// Each delivery has its newest totals, for as long as they are kept.
    private func checkTotals() throws {
        let found = try self.read(DeliveryTotalsFile.name) { database in
            try DeliveryTotalsFile.all(tenant: nil, in: database).reduce(into: [:]) {
                $0[YearBook.name($1.tenant, $1.delivery)] = $1
            }
        }
        let oldest = self.today - Int64(self.plan.deliveries.retainDays)
        for name in Set(found.keys).union(self.book.totals.keys).sorted() {
            let (there, owed) = (found[name], self.book.totals[name])
            // A clock that is wrong by a day or two deletes so much earlier or later.
            let day = owed?.day ?? .min
            if there == nil ? day <= oldest + 2 : there == owed?.totals && day >= oldest - 4 {
                continue
            }
            throw Violation(
                "the totals of \(name) are \(there.map { "\($0)" } ?? "none"), and those put on "
                    + "day \(day) of \(self.today) were \(owed.map { "\($0.totals)" } ?? "none")")
        }
    }

    private func check(_ ledger: Ledger) throws {
        var found: [Int64: YearBook.Verdicts] = [:]
        for row in ledger.all {
            if row.isOther { throw Violation("the ledger is too small for the year: \(row)") }
            found[Int64(row.hour / 24), default: YearBook.Verdicts()].add(row)
        }
        let owed = self.book.verdicts
        for (what, count) in YearBook.Verdicts.counts {
            try self.compare(
                "\(what) events in the ledger", found.mapValues(count), owed.mapValues(count),
                kept: self.plan.journal.ledger.retainDays)
        }
        let limit = self.plan.journal.ledger.maxRows
        if ledger.rowCount > limit {
            throw Violation("the ledger has \(ledger.rowCount) rows, and the limit is \(limit)")
        }
        try self.checkVersions(ledger)
    }

    /// A delivery has rows of as many versions as the ledger keeps, whatever apps send.
    private func checkVersions(_ ledger: Ledger) throws {
        var versions: [String: Set<String>] = [:]
        for row in ledger.all where row.outcome == .version && row.appVersion != Ledger.otherValue {
            versions[YearBook.name(row.tenant, row.delivery), default: []].insert(row.appVersion)
        }
        let limit = 2 * Ledger.maxVersions
        for (name, versions) in versions where versions.count > limit {
            throw Violation(
                "the ledger has \(versions.count) versions of \(name), and the limit is \(limit)")
        }
    }
}

extension YearBook.Verdicts {
    /// What is counted, by name.
    fileprivate static let counts: [(String, @Sendable (Self) -> Int)] = [
        ("accepted", { $0.accepted }), ("duplicate", { $0.duplicate }), ("refused", { $0.refused }),
        ("versioned", { $0.versions }),
    ]

    /// Adds a row of the ledger, unless it counts events that other rows count.
    fileprivate mutating func add(_ row: LedgerRow) {
        switch row.outcome.meaning {
        case .accepted: self.accepted += Int(row.count)
        case .duplicate: self.duplicate += Int(row.count)
        case .refused: self.refused += Int(row.count)
        case .version: self.versions += Int(row.count)
        case .warning, .closedImpression, .send, .sentAndFailed, nil: break
        }
    }
}
