// What a report is asked for.

/// Which hits of hits.db a report counts, and how many rows it shows.
package struct ReportQuery: Sendable, Equatable {
    /// Rows that a section may show: 1 to 100,000.
    package static let limits = 1...100_000
    /// Rows that a section shows where nothing else is said.
    package static let defaultLimit = 50

    /// Only this tenant's hits; nil for all.
    package var tenant: String?
    /// Only this delivery's hits, or this in-app message's; nil for all.
    package var delivery: String?
    /// Only this app's hits; nil for all, those without an app too.
    package var app: String?
    /// Hits that the server received from here on, in microseconds since 1970; nil for all.
    package var since: Int64?
    /// Hits that the server received before this, in microseconds since 1970; nil for all.
    package var until: Int64?
    /// Whether each app has a row of its own.
    package var isByApp = false
    /// Rows of a section; more are left out and counted.
    package var limit = ReportQuery.defaultLimit

    /// Asks for everything.
    package init() {}
}
