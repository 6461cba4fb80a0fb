#if PostgreSQL
// The steps of a probe at one host, all of them in one session.
internal import CLibpq
internal import SinkKit

/// Connects to a host, and writes in a transaction that is rolled back.
struct PostgreSQLProbe {
    private let configuration: PostgreSQLConfiguration
    private let url: PostgreSQLURL
    private let host: PostgreSQLURL.Host
    private let schema: PostgreSQLSchema
    /// What was tried so far.
    private(set) var steps: [ProbeStep] = []
    /// Whether a session began: the sink looks at no further host then.
    private(set) var hasSession = false
    /// The step that is under way.
    private var step: Step

    private enum Step: String {
        case connection, session, database, tables, write

        /// What to do about a failure of which the server says no more.
        var fix: String {
            switch self {
            case .connection: "check that PostgreSQL has its socket there, and who may use it"
            case .session: "check that it is a PostgreSQL server, and has a connection to spare"
            case .database: "docs/sinks/postgresql.md says what the database has to be"
            case .tables:
                "run the output of sightline sinks sql postgresql as the tables' owner"
            case .write: "docs/sinks/postgresql.md says what its errors mean"
            }
        }
    }

    init(
        _ configuration: PostgreSQLConfiguration, _ url: PostgreSQLURL,
        _ host: PostgreSQLURL.Host
    ) {
        self.configuration = configuration
        self.url = url
        self.host = host
        self.schema = PostgreSQLSchema(configuration.schema)
        self.step = host.isDirectory ? .connection : .session
    }

    /// Probes everything, up to the first failure.
    mutating func run(_ hits: HitBatch) {
        do {
            let connection = try PostgreSQLConnection.open(
                self.configuration, self.url, self.host, DeliveryDeadline())
            self.hasSession = true
            self.tell(of: connection)
            try self.write(hits, connection)
        } catch let error as PostgreSQLError {
            self.steps.append(self.failure(of: error))
        } catch {
            self.fail("\(error)", fix: self.step.fix)
        }
    }

    private mutating func succeed(_ text: String) {
        self.steps.append(.worked(self.step.rawValue, text))
    }

    private mutating func fail(_ text: String, fix: String) {
        self.steps.append(.failed(self.step.rawValue, text, fix: fix))
    }

    /// The steps that a session proves.
    private mutating func tell(of connection: PostgreSQLConnection) {
        if self.host.isDirectory { self.succeed("the server answers in \(self.host.name)") }
        let mode = self.configuration.tlsMode
        if PQsslInUse(connection.connection) == 1 {
            let what =
                mode == .verifyFull
                ? "the certificate of \(self.host.name) is accepted"
                : "encrypted; with postgresql.tls.mode \(mode.rawValue) nothing proves the host"
            self.steps.append(.worked("TLS", what))
        } else if mode == .prefer, !self.host.isDirectory {
            self.steps.append(.skipped("TLS", "the server offers none, and none has to be"))
        }
        let usesPassword = PQconnectionUsedPassword(connection.connection) == 1
        self.steps.append(
            .worked(
                "credentials",
                usesPassword
                    ? "the password of \(self.url.user) is accepted"
                    : "\(self.url.user) needs no password"))
    }

    /// Writes as the sink does when rows may be there already: that needs every right that it has
    /// to have.
    private mutating func write(_ hits: HitBatch, _ connection: PostgreSQLConnection) throws {
        self.step = .database
        let session = HitSession(self.configuration)
        try session.limit(connection)
        let version = connection.status("server_version")
        self.succeed("\(self.url.database) is in UTF8, of PostgreSQL \(version)")
        self.step = .tables
        try self.findTables(session, connection)
        self.step = .write
        var rows = HitRows(lateDays: self.configuration.lateDays)
        try rows.encode(hits, after: 0)
        let transaction = HitTransaction(.staged, self.schema, rows, connection, maxRefused: 0)
        try connection.run("\(PostgreSQLSchema.stageCreation); SAVEPOINT hit")
        try self.stage(rows, transaction, connection)
        let cursor = HitCursor(sequence: hits.sequence, hitID: nil)
        try connection.run("\(try transaction.moving(cursor, of: hits.journal)); ROLLBACK")
        self.succeed("the test hit and a cursor are taken; they are rolled back, so none stays")
    }

    /// Begins the transaction. Tables that are missing are created in it, if the sink would.
    private mutating func findTables(
        _ session: HitSession, _ connection: PostgreSQLConnection
    ) throws {
        let found = try session.version(connection)
        let wait = "SET LOCAL lock_timeout = \(self.configuration.lockTimeout.milliseconds)"
        try connection.run("BEGIN; \(wait)")
        guard found == nil, self.configuration.migrates else {
            try session.check(found)
            return self.succeed(
                "those of the schema \(self.schema.name) are as they have to be")
        }
        try connection.run("\(self.schema.lock); \(self.schema.creation)")
        self.succeed("those of the schema \(self.schema.name) are missing, and can be created")
    }

    /// Writes the rows; the partition that they need is created first if it is missing.
    private func stage(
        _ rows: HitRows, _ transaction: HitTransaction, _ connection: PostgreSQLConnection
    ) throws(PostgreSQLError) {
        let all = rows.rows.indices
        do throws(PostgreSQLError) {
            try transaction.stage(all, after: "")
        } catch  where error.lacksPartition && self.configuration.migrates {
            let partitions = rows.days.map(self.schema.partitionAttachment).joined(
                separator: "; ")
            try connection.run("ROLLBACK TO hit; \(self.schema.lock); \(partitions)")
            try transaction.stage(all, after: "")
        }
    }

    /// The step that an error belongs to.
    private func failure(of error: PostgreSQLError) -> ProbeStep {
        if !self.hasSession, error.isOfTLS {
            return .failed(
                "TLS", error.finding,
                fix:
                    "the server's certificate has to be of an authority in postgresql.tls.roots "
                    + "and valid for \(self.host.name); postgresql.tls.mode and the server's "
                    + "pg_hba.conf say whether TLS is used")
        }
        let advice = error.advice ?? self.step.fix
        if error.isOfCredentials { return .failed("credentials", error.finding, fix: advice) }
        if !self.hasSession, error.isOfDatabase {
            return .failed("database", error.finding, fix: advice)
        }
        return .failed(self.step.rawValue, error.finding, fix: advice)
    }
}

extension PostgreSQLError {
    /// Whether a connection was refused because of TLS, or of the lack of it.
    fileprivate var isOfTLS: Bool {
        if self.isOfCredentials { return self.message.hasSuffix("no encryption") }
        return self.message.contains("SSL") || self.message.contains("certificate")
    }

    /// Whether the server does not let the user in.
    fileprivate var isOfCredentials: Bool {
        self.state.hasPrefix("28") || self.message.hasSuffix("no password supplied")
            || self.message.hasPrefix("postgresql.password_file")
    }

    /// Whether a connection was refused because of the database: it is missing, or not to be
    /// written.
    fileprivate var isOfDatabase: Bool {
        self.state.hasPrefix("3D") || self.state == "42501"
            || self.advice?.hasPrefix("it is a standby") == true
    }
}
#endif
