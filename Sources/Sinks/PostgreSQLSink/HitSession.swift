#if PostgreSQL
// What a new connection is told, and what is checked before the first batch.

/// Begins sessions.
struct HitSession {
    private let configuration: PostgreSQLConfiguration
    private let schema: PostgreSQLSchema

    init(_ configuration: PostgreSQLConfiguration) {
        self.configuration = configuration
        self.schema = PostgreSQLSchema(configuration.schema)
    }

    /// Sets the session's limits, and finds the tables or creates them.
    ///
    /// - Throws: `PostgreSQLError`.
    func begin(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        try self.limit(connection)
        var version = try self.version(connection)
        if version == nil, self.configuration.migrates {
            try self.migrate(connection)
            version = try self.version(connection)
        }
        try self.check(version)
        if self.configuration.migrates { try self.refreshViews(connection) }
    }

    /// Checks the database's encoding, and sets the session's limits.
    ///
    /// - Throws: `PostgreSQLError`.
    func limit(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        let encoding = connection.status("server_encoding")
        guard encoding == "UTF8" else {
            throw PostgreSQLError(
                "the database's encoding is \(encoding), and has to be UTF8",
                advice: "create another one with ENCODING 'UTF8'")
        }
        let timeout = self.configuration.statementTimeout.milliseconds
        // A commit that is not on disk would be no answer to rest on.
        try connection.run(
            """
            SET statement_timeout = \(timeout); SET lock_timeout = 0; SET jit = off;
            SET idle_in_transaction_session_timeout = \(timeout);
            SET client_min_messages = error; SET search_path = pg_catalog; SET TimeZone = 'UTC';
            SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') = 'off'
            """)
    }

    /// Checks the version of the tables.
    ///
    /// - Throws: `PostgreSQLError` if this build cannot use them.
    func check(_ version: Int?) throws(PostgreSQLError) {
        guard version == PostgreSQLSchema.formatVersion else {
            let found = version.map { "are of version \($0)" } ?? "are missing"
            throw PostgreSQLError(
                "the sink's tables in the schema \(self.schema.name) \(found), and have to be of "
                    + "version \(PostgreSQLSchema.formatVersion)",
                advice: "run the output of sightline sinks sql postgresql, or set "
                    + "postgresql.migrate to true")
        }
    }

    /// The version of the tables; nil if there are none.
    func version(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> Int? {
        do throws(PostgreSQLError) {
            let rows = try connection.run(
                "SELECT version FROM \(self.schema.qualified("format"))")
            return rows.first?.first?.flatMap { Int($0) }
        } catch  where error.state == "42P01" || error.state == "3F000" {
            return nil
        }
    }

    /// Replaces the views that an earlier build has made, which know fewer kinds of hits. Nothing
    /// that is written depends on them: one that is somebody else's, or that a reader holds for
    /// longer than `postgresql.lock_seconds`, stays, and the next connection tries again.
    private func refreshViews(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        for view in self.schema.views { try self.refresh(view, connection) }
    }

    private func refresh(
        _ view: PostgreSQLSchema.View, _ connection: PostgreSQLConnection
    ) throws(PostgreSQLError) {
        let name = self.schema.qualified(view.name)
        let rows = try connection.run("SELECT pg_get_viewdef(to_regclass('\(name)'))")
        guard let definition = rows.first?.first ?? nil, !view.isCurrent(definition) else { return }
        do throws(PostgreSQLError) {
            try connection.run(
                """
                BEGIN; SET LOCAL lock_timeout = \(self.configuration.lockTimeout.milliseconds);
                \(self.schema.lock);
                \(view.creation)
                COMMIT
                """)
        } catch  where !error.state.isEmpty {
            try connection.run("ROLLBACK")
        }
    }

    /// Creates the tables. Of several nodes that start at once, the others wait, or come again
    /// after `postgresql.lock_seconds`.
    private func migrate(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        try connection.run(
            """
            BEGIN; SET LOCAL lock_timeout = \(self.configuration.lockTimeout.milliseconds);
            \(self.schema.lock);
            \(self.schema.creation)
            COMMIT
            """)
    }
}

extension PostgreSQLSchema {
    /// Waits for others that change the sink's tables, up to the end of the transaction.
    var lock: String {
        "SELECT pg_advisory_xact_lock(hashtextextended('sightline \(self.name)', 0))"
    }
}
#endif
