internal import GRDB
internal import TrackingRules

/// Folds old counts: the hours of days that are 90 days ago into these days, and the days of months
/// that are a year ago into these months. So their number grows by 12 a year for each delivery that
/// is still in use, and not by 8,766.
///
/// A step counts as a whole from the moment at which it is due. Its rows are folded with the next
/// batches, some with each; until then they are at their own hours, within the step.
struct HitFolding {
    /// The whole days for which counts are kept by the hour.
    static let hourlyDays: Int64 = 90
    /// The whole days for which they are kept by the day.
    static let dailyDays: Int64 = 365

    /// The steps by which hits are counted.
    private(set) var steps: CountSteps
    /// All rows of earlier hours are at the first hours of their days.
    private var daysFolded: Int64
    /// All rows of earlier hours are at the first hours of their months.
    private var monthsFolded: Int64

    /// - Throws: SQLite's error.
    init(in database: Database) throws {
        func value(_ name: String) throws -> Int64 {
            try HitBounds.value(name, in: database) ?? 0
        }
        self.steps = CountSteps(
            days: try value(CountSteps.daysName), months: try value(CountSteps.monthsName))
        self.daysFolded = try value(HitBounds.daysFolded)
        self.monthsFolded = try value(HitBounds.monthsFolded)
    }

    /// The latest day by which it has folded; the 90th since 1970 in a new file.
    var today: Int64 { self.steps.days / CountSteps.hoursPerDay &+ Self.hourlyDays }

    /// The first hour of the step by which the hits of an hour are counted.
    func start(of hour: Int64) -> Int64 {
        hour < self.steps.days ? self.steps.step(of: hour).lowerBound : hour
    }

    /// Folds rows that are due, at most `rows`.
    ///
    /// - Parameter today: a day that is believed, since 1970. One that goes back changes nothing.
    /// - Throws: SQLite's error.
    mutating func fold(today: Int64, rows: Int, in database: Database) throws {
        try self.setDay(today, in: database)
        var left = rows
        if self.monthsFolded < self.steps.months {
            self.monthsFolded = try self.move(
                from: self.monthsFolded, to: self.steps.months, &left, in: database)
            try HitBounds.set(HitBounds.monthsFolded, to: self.monthsFolded, in: database)
        }
        // What is counted by the month goes there at once.
        let first = max(self.daysFolded, self.steps.months)
        if first < self.steps.days, left > 0 {
            self.daysFolded = try self.move(from: first, to: self.steps.days, &left, in: database)
            try HitBounds.set(HitBounds.daysFolded, to: self.daysFolded, in: database)
        }
    }

    private mutating func setDay(_ today: Int64, in database: Database) throws {
        let days = (today &- Self.hourlyDays) &* CountSteps.hoursPerDay
        guard days > self.steps.days else { return }
        let month = CalendarMonth(ofDay: today &- Self.dailyDays)
        self.steps.days = days
        self.steps.months = max(self.steps.months, month.firstDay * CountSteps.hoursPerDay)
        try HitBounds.set(CountSteps.daysName, to: self.steps.days, in: database)
        try HitBounds.set(CountSteps.monthsName, to: self.steps.months, in: database)
    }

    /// Moves rows of these hours to the first hours of their steps.
    ///
    /// - Returns: the hour up to which all are moved.
    private func move(
        from first: Int64, to end: Int64, _ left: inout Int, in database: Database
    ) throws -> Int64 {
        let next = try database.cachedStatement(
            sql: "SELECT hour FROM counts WHERE hour >= ? AND hour < ? ORDER BY hour LIMIT 1")
        var first = first
        while left > 0 {
            guard let hour = try Int64.fetchOne(next, arguments: [first, end]) else { return end }
            let start = self.steps.step(of: hour).lowerBound
            if hour == start {
                left -= 1
                first = hour + 1
            } else {
                left -= max(try Self.move(hour, to: start, limit: left, in: database), 1)
            }
        }
        return first
    }

    /// Moves rows of an hour to another one.
    ///
    /// - Returns: how many.
    private static func move(
        _ hour: Int64, to start: Int64, limit: Int, in database: Database
    ) throws -> Int {
        try database.cachedStatement(sql: Self.addition)
            .execute(arguments: ["start": start, "hour": hour, "limit": limit])
        try database.cachedStatement(sql: Self.deletion)
            .execute(arguments: ["hour": hour, "limit": limit])
        return database.changesCount
    }

    private static let key = "tenant, app, delivery, product, platform, kind"
    /// The same rows for both statements.
    private static let selected = "counts WHERE hour = :hour ORDER BY \(key) LIMIT :limit"

    private static let addition = """
        INSERT INTO counts SELECT :start, \(key), hits, first_hits, notifications, first_time,
            last_time, campaign, newest FROM \(selected) \(HitCounts.merging)
        """

    private static let deletion = """
        DELETE FROM counts
        WHERE hour = :hour AND (\(key)) IN (SELECT \(key) FROM \(selected))
        """
}
