#if PostgreSQL
// `sightline sinks try`: whether a server takes a test hit.
internal import ConfigurationKeys
package import SinkKit

extension PostgreSQLSink {
    /// The servers of the URL; none if one of them is the directory of a Unix socket.
    package var probedHosts: [HostProbe] {
        let configuration = self.configuration
        if self.url.hosts.contains(where: \.isDirectory) { return [] }
        let isVerified = [.verifyCA, .verifyFull].contains(configuration.tlsMode)
        return self.url.hosts.map { host in
            HostProbe(
                host: host.name, port: host.port, key: "postgresql.url",
                roots: isVerified ? "postgresql.tls.roots" : nil,
                timeout: configuration.connectTimeout)
        }
    }

    /// Writes the test hit and a cursor in a transaction that is rolled back.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        do {
            try await self.store.rehearse(hit)
            return [
                .worked(
                    "write",
                    "the test hit and a cursor are taken; they are rolled back, so none stays")
            ]
        } catch {
            let failure = error as? PostgreSQLError
            return [
                .failed(
                    "write", failure?.finding ?? "\(error)",
                    fix: failure?.advice
                        ?? "docs/sinks/postgresql.md says what the database has to be, and what "
                        + "its errors mean")
            ]
        }
    }
}

extension PostgreSQLURL.Host {
    /// Whether it is the directory of a Unix socket.
    fileprivate var isDirectory: Bool { self.name.hasPrefix("/") }
}

/// Writes a batch and a cursor, and rolls it all back.
struct HitRehearsal {
    let configuration: PostgreSQLConfiguration
    let url: PostgreSQLURL

    private var schema: PostgreSQLSchema { PostgreSQLSchema(self.configuration.schema) }

    /// Writes as the sink does when rows may be there already: that needs every right that it has
    /// to have.
    ///
    /// - Throws: `PostgreSQLError`, or `DamagedPayload`.
    func run(_ hits: HitBatch) throws {
        let connection = try PostgreSQLConnection.open(
            self.configuration, self.url, DeliveryDeadline())
        try self.begin(connection)
        var rows = HitRows(lateDays: self.configuration.lateDays)
        try rows.encode(hits, after: 0)
        let transaction = HitTransaction(
            .staged, self.schema, rows, connection, TenantRefusals(limit: 0))
        try connection.run("\(PostgreSQLSchema.stageCreation); SAVEPOINT hit")
        try self.stage(rows, transaction, connection)
        let cursor = HitCursor(sequence: hits.sequence, hitID: nil)
        try connection.run("\(try transaction.moving(cursor, of: hits.journal)); ROLLBACK")
    }

    /// Begins the transaction. Tables that are missing are created in it, if the sink would.
    private func begin(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        let session = HitSession(self.configuration)
        try session.limit(connection)
        let found = try session.version(connection)
        let wait = "SET LOCAL lock_timeout = \(self.configuration.lockTimeout.milliseconds)"
        try connection.run("BEGIN; \(wait)")
        guard found == nil, self.configuration.migrates else { return try session.check(found) }
        try connection.run("\(self.schema.lock); \(self.schema.creation)")
    }

    /// Writes the rows; the partition that they need is created first if it is missing.
    private func stage(
        _ rows: HitRows, _ transaction: HitTransaction, _ connection: PostgreSQLConnection
    ) throws(PostgreSQLError) {
        let all = [rows.bytes(rows.rows.indices)]
        do throws(PostgreSQLError) {
            try transaction.stage(all, after: "")
        } catch  where error.lacksPartition && self.configuration.migrates {
            let partitions = rows.days.map(self.schema.partitionAttachment).joined(
                separator: "; ")
            try connection.run("ROLLBACK TO hit; \(self.schema.lock); \(partitions)")
            try transaction.stage(all, after: "")
        }
    }
}
#endif
