internal import GRDB

extension ReportQuery {
    /// Selects the rows of `hits` for this query.
    static let condition = """
        (:tenant IS NULL OR tenant = :tenant) AND (:delivery IS NULL OR delivery_id = :delivery)
            AND (:app IS NULL OR app_id = :app) AND (:since IS NULL OR receive_time >= :since)
            AND (:until IS NULL OR receive_time < :until)
        """

    /// The arguments of `condition`.
    var arguments: StatementArguments {
        [
            "tenant": self.tenant, "delivery": self.delivery, "app": self.app,
            "since": self.since, "until": self.until,
        ]
    }
}
