internal import GRDB
package import TrackingRules

/// Selects the hits of hits.db to count, and limits the rows to show.
package struct ReportQuery: Sendable, Equatable {
    /// The valid limits of a section's rows.
    package static let limits = 1...100_000
    /// The default limit of a section's rows.
    package static let defaultLimit = 50

    /// Only this tenant's hits; nil for all.
    package var tenant: String?
    /// Only this delivery's hits, or this in-app message's; nil for all.
    package var delivery: String?
    /// Only this app's hits; nil for all, including those without an app.
    package var app: String?
    /// Only hits at or after this time, in microseconds since 1970; nil for all.
    package var since: Int64?
    /// Only hits before this time, in microseconds since 1970; nil for all.
    package var until: Int64?
    /// Whether hits count by when they happened, as their devices' clocks say, and not by when they
    /// were received. Then the hits themselves are read, without those that were deleted.
    package var isByOccurrence = false
    /// Only hits whose events reached the server so; nil for all. Then the hits themselves are
    /// read, since no count knows it.
    package var source: EventSource?
    /// The zone in which days begin and times are shown.
    package var zone = ReportZone.utc
    /// The steps of a series for each delivery; nil for none.
    package var step: ReportSeries.Step?
    /// Whether hits of `sightline bench` count too; they do if `app` names its app.
    package var includesBench = false
    /// Whether to split rows by app.
    package var isByApp = false
    /// The maximum rows of a section; further ones are counted as omitted.
    package var limit = ReportQuery.defaultLimit

    /// Creates a query for all hits.
    package init() {}

    /// Microseconds in an hour.
    static let hour: Int64 = 3_600_000_000

    /// The same query for whole steps, since hits are counted by these: it includes all steps that
    /// `since` and `until` touch.
    func whole(by steps: CountSteps) -> ReportQuery {
        var query = self
        query.since = self.since.map { steps.step(at: $0).lowerBound &* Self.hour }
        query.until = self.until.map { steps.step(at: $0 &- 1).upperBound &* Self.hour }
        return query
    }

    /// The steps by which the hits of this query are counted: hours, unless older ones are folded.
    ///
    /// - Throws: SQLite's error, or `RowDecodingError`.
    func steps(in database: Database) throws -> CountSteps {
        self.readsHits ? CountSteps() : try CountSteps(in: database)
    }

    /// What to know of a range that begins or ends within a day or a month that is counted as a
    /// whole: a sentence for each bound that is moved further than to a whole hour.
    func notes(by steps: CountSteps) -> [String] {
        let (hours, whole) = (self.whole(by: CountSteps()), self.whole(by: steps))
        var notes: [String] = []
        if let since, let bound = whole.since, bound != hours.since {
            notes.append(self.note("since", since, steps.step(at: since), "begins", bound))
        }
        if let until, let bound = whole.until, bound != hours.until {
            notes.append(self.note("until", until, steps.step(at: until &- 1), "ends", bound))
        }
        return notes
    }

    private func note(
        _ name: String, _ asked: Int64, _ step: Range<Int64>, _ verb: String, _ bound: Int64
    ) -> String {
        func text(_ time: Int64) -> String { ReportTime.text(time, in: self.zone) }
        let unit = Int64(step.count) > CountSteps.hoursPerDay ? "month" : "day"
        return """
            \(name) \(text(asked)) is within a \(unit) that is counted as a whole, so \
            the range \(verb) at \(text(bound))
            """
    }
}

extension CountSteps {
    /// The steps of a database. All are hours in one of an earlier build.
    ///
    /// - Throws: SQLite's error, or `RowDecodingError`.
    init(in database: Database) throws {
        self.init()
        guard try database.tableExists("bounds") else { return }
        let rows = try Row.fetchAll(database, sql: "SELECT name, value FROM bounds")
        for row in rows {
            let value = try row.decode(Int64.self, forColumn: "value")
            switch try row.decode(String.self, forColumn: "name") {
            case Self.daysName: self.days = value
            case Self.monthsName: self.months = value
            default: continue
            }
        }
    }

    /// The hours of the step with a time, in microseconds since 1970.
    func step(at time: Int64) -> Range<Int64> {
        self.step(of: time.quotient(by: ReportQuery.hour))
    }
}
