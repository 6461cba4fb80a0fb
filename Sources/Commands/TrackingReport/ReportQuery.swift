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
    /// Only hits received at or after this time, in microseconds since 1970; nil for all.
    package var since: Int64?
    /// Only hits received before this time, in microseconds since 1970; nil for all.
    package var until: Int64?
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

    /// The same query for whole hours, since hits are counted by the hour: it includes all hours
    /// that `since` and `until` touch.
    var inWholeHours: ReportQuery {
        var query = self
        query.since = self.since.map { $0.floor(to: Self.hour) }
        query.until = self.until.map { ($0 &+ Self.hour &- 1).floor(to: Self.hour) }
        return query
    }
}

extension Int64 {
    /// The largest multiple of `unit` up to this number.
    fileprivate func floor(to unit: Int64) -> Int64 {
        let rest = self % unit
        return rest < 0 ? self &- rest &- unit : self &- rest
    }
}
