internal import GRDB
internal import Storage

extension ReportQuery {
    /// Selects the rows of `counts` for this query, which is one of whole steps. A range of hours
    /// without a condition around it, so that SQLite reads no others.
    static let condition = """
        (:tenant IS NULL OR tenant = (SELECT id FROM names WHERE text = :tenant))
            AND (:delivery IS NULL OR delivery = (SELECT id FROM names WHERE text = :delivery))
            AND (:app IS NULL OR app = (SELECT id FROM names WHERE text = :app))
            AND coalesce(app <> (SELECT id FROM names WHERE text = :hidden), 1)
            AND hour >= :firstHour AND hour < :endHour
        """

    /// The arguments of `condition`.
    var arguments: StatementArguments {
        [
            "tenant": self.tenant, "delivery": self.delivery, "app": self.app,
            "hidden": self.includesBench || self.app != nil ? nil : BenchMark.appID,
            "firstHour": self.since.map { $0 / Self.hour } ?? Int64.min,
            "endHour": self.until.map { $0 / Self.hour } ?? Int64.max,
        ]
    }
}

/// The names of hits.db, which its rows have as numbers.
enum StoredName {
    /// SQL for the text of a name's number, whole; NULL for 0 or NULL, which stand for no name.
    static func text(_ number: String) -> String {
        let text = """
            coalesce((SELECT text FROM names WHERE id = \(number)), \
            '(name ' || \(number) || ' is missing)')
            """
        return "iif(\(number) > 0, \(WholeText.value(text)), NULL)"
    }

    /// What a report shows for a number without a text, as in a file that was repaired.
    static func missing(_ number: Int64) -> String { "(name \(number) is missing)" }
}
