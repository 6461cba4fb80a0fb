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
    /// Whether to split rows by app.
    package var isByApp = false
    /// The maximum rows of a section; further ones are counted as omitted.
    package var limit = ReportQuery.defaultLimit

    /// Creates a query for all hits.
    package init() {}
}
