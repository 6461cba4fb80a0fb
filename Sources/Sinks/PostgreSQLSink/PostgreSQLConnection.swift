#if PostgreSQL
// One connection: libpq without its blocking calls, so that a server that hangs holds up nobody for
// longer than the limits say.
internal import CLibpq
internal import Glibc
internal import SinkKit
internal import WireFormat

/// A connection, used on the sink's executor alone.
final class PostgreSQLConnection {
    let connection: OpaquePointer
    /// Until when the delivery that is under way may wait.
    var delivery: DeliveryDeadline
    /// How long an answer may take before the connection is given up.
    private let timeout: Duration

    /// Takes over a connection that is made.
    init(_ connection: OpaquePointer, _ delivery: DeliveryDeadline, timeout: Duration) {
        self.connection = connection
        self.delivery = delivery
        self.timeout = timeout
        PQsetnonblocking(connection, 1)
        // By default notices go to standard error.
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
    }

    deinit { PQfinish(self.connection) }

    /// A parameter that the server reports; empty if it reports none.
    func status(_ name: String) -> String {
        PQparameterStatus(self.connection, name).map { String(cString: $0) } ?? ""
    }

    // MARK: Statements

    /// Runs statements, with `;` between them.
    ///
    /// - Returns: the rows of the last one that has rows; a value that is null is nil.
    /// - Throws: `PostgreSQLError`.
    @discardableResult
    func run(_ sql: String) throws(PostgreSQLError) -> [[String?]] {
        let deadline = ContinuousClock.now + self.timeout
        try self.send(sql)
        var rows: [[String?]] = []
        try self.finish(deadline) { result in rows = Self.rows(of: result) }
        return rows
    }

    /// Runs statements of which the last is a COPY from the client, and feeds it.
    ///
    /// - Throws: `PostgreSQLError`; nothing of the COPY is stored then.
    func copy(_ sql: String, _ parts: [Bytes]) throws(PostgreSQLError) {
        var deadline = ContinuousClock.now + self.timeout
        try self.send(sql)
        var isReady = false
        while !isReady, let result = try self.result(deadline) {
            defer { PQclear(result) }
            isReady = PQresultStatus(result) == PGRES_COPY_IN
            guard isReady || PQresultStatus(result) == PGRES_COMMAND_OK else {
                let error = PostgreSQLError(result)
                try self.finish(deadline)
                throw error
            }
        }
        for part in parts {
            for start in stride(from: 0, to: part.count, by: Self.sliceBytes) {
                deadline = .now + self.timeout
                let end = min(part.count, start + Self.sliceBytes)
                try self.put(Bytes(rebasing: part[start..<end]), deadline)
            }
        }
        deadline = .now + self.timeout
        while true {
            let status = PQputCopyEnd(self.connection, nil)
            if status == 1 { break }
            guard status == 0 else { throw self.lost() }
            try self.wait(POLLOUT | POLLIN, deadline)
        }
        try self.finish(deadline)
    }

    /// Text in quotes, as it may stand in a statement, and as a row has it: with U+FFFD for a zero
    /// byte, as in `RowBuffer`.
    func literal(_ text: String) throws(PostgreSQLError) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(
            contentsOf: text.unicodeScalars.lazy.map { $0 == "\0" ? "\u{fffd}" : $0 })
        let text = String(scalars)
        guard let quoted = PQescapeLiteral(self.connection, text, text.utf8.count) else {
            throw self.lost()
        }
        defer { PQfreemem(quoted) }
        return String(cString: quoted)
    }

    // MARK: Waiting

    /// What is handed to libpq at once: it keeps little of it.
    private static let sliceBytes = 64 << 10
    /// How often a stop is looked for.
    private static let tick = Duration.milliseconds(100)

    private func send(_ sql: String) throws(PostgreSQLError) {
        guard PQsendQuery(self.connection, sql) == 1 else { throw self.lost() }
    }

    private func put(
        _ bytes: Bytes, _ deadline: ContinuousClock.Instant
    ) throws(PostgreSQLError) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        while true {
            let status = PQputCopyData(self.connection, start, Int32(bytes.count))
            if status == 1 { break }
            guard status == 0 else { throw self.lost() }
            try self.wait(POLLOUT | POLLIN, deadline)
        }
        while true {
            let status = PQflush(self.connection)
            if status == 0 { return }
            guard status == 1 else { throw self.lost() }
            // A server that sends while we do would otherwise wait for us.
            try self.wait(POLLOUT | POLLIN, deadline)
            guard PQconsumeInput(self.connection) == 1 else { throw self.lost() }
        }
    }

    /// Reads the results up to the end of the statements.
    ///
    /// - Throws: the first error among them.
    private func finish(
        _ deadline: ContinuousClock.Instant, _ take: (OpaquePointer) -> Void = { _ in }
    ) throws(PostgreSQLError) {
        var failure: PostgreSQLError?
        while let result = try self.result(deadline) {
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK: take(result)
            case PGRES_COMMAND_OK: break
            default: failure = failure ?? PostgreSQLError(result)
            }
            PQclear(result)
        }
        guard PQstatus(self.connection) == CONNECTION_OK else {
            throw failure.flatMap { $0.state.isEmpty ? nil : $0 } ?? self.lost()
        }
        if let failure { throw failure }
    }

    private func result(
        _ deadline: ContinuousClock.Instant
    ) throws(PostgreSQLError) -> OpaquePointer? {
        while true {
            let unsent = PQflush(self.connection)
            guard unsent >= 0 else { throw self.lost() }
            if PQisBusy(self.connection) == 0 { break }
            try self.wait(unsent == 1 ? POLLIN | POLLOUT : POLLIN, deadline)
            // A failure is told of by the next result.
            if PQconsumeInput(self.connection) != 1 { break }
        }
        return PQgetResult(self.connection)
    }

    private func wait(
        _ events: Int32, _ deadline: ContinuousClock.Instant
    ) throws(PostgreSQLError) {
        guard PQstatus(self.connection) == CONNECTION_OK else { throw self.lost() }
        try Self.wait(PQsocket(self.connection), events, deadline, self.delivery) {
            .silence(self.timeout)
        }
    }

    /// Waits until a socket is ready.
    static func wait(
        _ socket: Int32, _ events: Int32, _ deadline: ContinuousClock.Instant,
        _ delivery: DeliveryDeadline,
        silence: () -> PostgreSQLError
    ) throws(PostgreSQLError) {
        while true {
            var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
            let left = max(.zero, min(Self.tick, deadline - ContinuousClock.now))
            let count = poll(&descriptor, 1, Int32(left / .milliseconds(1)) + 1)
            if count > 0 { return }
            guard count == 0 || errno == EINTR else {
                throw PostgreSQLError("poll: \(String(cString: strerror(errno)))")
            }
            if delivery.hasPassed { throw PostgreSQLError("the server stops") }
            if ContinuousClock.now >= deadline { throw silence() }
        }
    }

    private func lost() -> PostgreSQLError {
        let text = String(cString: PQerrorMessage(self.connection))
        return PostgreSQLError(
            reported: text.isEmpty ? "the connection is lost" : text, isLost: true)
    }

    private static func rows(of result: OpaquePointer) -> [[String?]] {
        (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in
                PQgetisnull(result, row, column) == 1
                    ? nil : PQgetvalue(result, row, column).map { String(cString: $0) }
            }
        }
    }
}
#endif
