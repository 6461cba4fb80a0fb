internal import GRDB
internal import Storage

extension ReportQuery {
    /// Selects the rows of `counts` for this query: whole hours, all that it touches.
    static let condition = """
        (:tenant IS NULL OR tenant = (SELECT id FROM names WHERE text = :tenant))
            AND (:delivery IS NULL OR delivery = (SELECT id FROM names WHERE text = :delivery))
            AND (:app IS NULL OR app = (SELECT id FROM names WHERE text = :app))
            AND coalesce(app <> (SELECT id FROM names WHERE text = :hidden), 1)
            AND (:firstHour IS NULL OR hour >= :firstHour)
            AND (:endHour IS NULL OR hour < :endHour)
        """

    /// The arguments of `condition`.
    var arguments: StatementArguments {
        [
            "tenant": self.tenant, "delivery": self.delivery, "app": self.app,
            "hidden": self.includesBench || self.app != nil ? nil : BenchMark.appID,
            "firstHour": self.since.map { $0 / Self.hour },
            "endHour": self.until.map { $0 / Self.hour },
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
