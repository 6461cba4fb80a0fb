#if PostgreSQL
// What the server or libpq says went wrong, and what an operator can do.
internal import CLibpq
internal import WireFormat

/// A failure. Its description is for logs: it has the code, our own words and libpq's, but nothing
/// that the server says once hits are sent, since a trigger may raise any text. That is for dead
/// letters, which are erased with their subject. Neither has DETAIL or CONTEXT.
struct PostgreSQLError: Error, CustomStringConvertible {
    /// The server's code; empty if the failure is not the server's.
    var state = ""
    /// What happened; empty if only the server tells.
    let message: String
    /// What the server says.
    var serverMessage = ""
    /// The constraint that a row breaks; empty if there is none.
    var constraint = ""
    /// Whether a RAISE or ASSERT of a function is the cause, with whichever code it gives.
    private(set) var isRaised = false

    /// What to do about it, where neither the code nor the text tells.
    private let ownAdvice: String?

    init(_ message: String, advice: String? = nil) {
        self.message = message
        self.ownAdvice = advice
    }

    init(state: String, _ message: String) {
        self.init(message)
        self.state = state
    }

    /// An error of the server.
    init(_ result: OpaquePointer) {
        func field(_ code: Int32) -> String {
            PQresultErrorField(result, code).map { String(cString: $0) } ?? ""
        }
        let state = field(Self.sqlStateField)
        guard !state.isEmpty else {
            // What libpq itself reports has no fields.
            self.init(reported: String(cString: PQresultErrorMessage(result)), isLost: true)
            return
        }
        let words = field(Self.primaryField)
        if Self.raisingFunctions.contains(field(Self.functionField)) {
            self.init(raised: state, words)
        } else {
            self.init(state: state, "")
            self.serverMessage = words
        }
        self.constraint = field(Self.constraintField)
    }

    /// What a RAISE or ASSERT of a function says.
    init(raised state: String, _ words: String) {
        self.init(state: state, "a function of the database raised it")
        self.serverMessage = words
        self.isRaised = true
    }

    // PG_DIAG_* are macros of characters, which Swift does not import.
    private static let sqlStateField = Int32(UInt8(ascii: "C"))
    private static let primaryField = Int32(UInt8(ascii: "M"))
    private static let constraintField = Int32(UInt8(ascii: "n"))
    /// The server's own function that reports the error, in every language the same.
    private static let functionField = Int32(UInt8(ascii: "R"))
    /// Those of PL/pgSQL for its statements RAISE and ASSERT.
    private static let raisingFunctions = ["exec_stmt_raise", "exec_stmt_assert"]

    /// Code, message and advice in one line.
    var description: String {
        let hasHidden = !self.serverMessage.isEmpty
        let advice = self.advice ?? (hasHidden ? Self.hiddenAdvice : nil)
        return self.text([self.message]) + (advice.map { " — \($0)" } ?? "")
    }

    /// What to do about an error of which no more than the code is told.
    private static let hiddenAdvice =
        "the server's words are in its own log, since they may name a person"

    /// The same with the server's words, for the dead letter of a row that was tried alone. What a
    /// function raises may have values of any row, so it is left out here too.
    var whole: String {
        if self.isRaised { return self.description }
        return self.finding + (self.advice.map { " — \($0)" } ?? "")
    }

    /// Code, message, the server's words, and the constraint: for those who try it with hits of
    /// nobody.
    var finding: String {
        self.text([self.message, self.serverMessage]) + self.brokenConstraint
    }

    /// Code and constraint alone, without any text of the server. Where a function raised it, the
    /// constraint is the function's word too.
    var code: String {
        "SQLSTATE \(self.state)" + (self.isRaised ? "" : self.brokenConstraint)
    }

    private var brokenConstraint: String {
        self.constraint.isEmpty ? "" : " (constraint \(self.constraint))"
    }

    /// The code and words, in one line.
    private func text(_ words: [String]) -> String {
        let code = self.state.isEmpty ? "" : "SQLSTATE \(self.state)"
        return ([code] + words).filter { !$0.isEmpty }.joined(separator: ": ")
            .split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// Whether a row is there already.
    var isDuplicate: Bool { self.state == "23505" }

    /// Whether the server has no partition for a row: it is told like a broken constraint.
    var lacksPartition: Bool {
        self.state == "23514" && self.constraint.isEmpty && !self.isRaised
    }

    /// Whether a row's values are to blame, so that the others can be stored.
    var isOfRow: Bool {
        if self.isRaised { return true }
        return Self.classesOfRows.contains { self.state.hasPrefix($0) } && !self.lacksPartition
    }

    /// Wrong data, broken constraints, exceptions of functions in other languages, views that do
    /// not take a row, and exceptions of PL/pgSQL.
    private static let classesOfRows = ["22", "23", "38", "39", "44", "P0"]

    /// Whether the work was too much for the time that it had.
    var isTimeout: Bool { self.state == "57014" || self.isSilence }
    /// Whether the server did not answer in time.
    var isSilence = false

    /// A server that is silent.
    static func silence(_ timeout: Duration) -> Self {
        var error = Self("no answer from the server within \(timeout.seconds) s")
        error.isSilence = true
        return error
    }
}

extension PostgreSQLError {
    /// What an operator can do; nil if that is not known.
    var advice: String? {
        if let ownAdvice { return ownAdvice }
        // Its code is the function's own, and says nothing of the server.
        if self.isRaised { return nil }
        if self.lacksPartition {
            return "create the day's partition (sightline sinks sql postgresql), or set "
                + "postgresql.migrate to true"
        }
        let found = Self.found.first { self.message.hasSuffix($0.ending) }?.state
        let state = found ?? self.state
        return Self.advice.first { state.hasPrefix($0.state) }?.text
    }

    /// What libpq finds out by itself, and the server's codes for the same.
    private static let found: [(ending: String, state: String)] = [
        ("no password supplied", "28P01"), ("session is read-only", "25006"),
        ("server is in hot standby mode", "25006"),
    ]

    /// By the beginning of the code.
    private static let advice: [(state: String, text: String)] = [
        ("25006", "it is a standby or read-only: list every host in postgresql.url"),
        ("28", "compare postgresql.url, postgresql.password_file and the server's pg_hba.conf"),
        ("3D", "create the database, or correct postgresql.url"),
        ("3F", "run the output of sightline sinks sql postgresql, or set postgresql.migrate"),
        (
            "42501",
            "grant what \(Documentation.page("sinks/postgresql.md")) lists to the sink's user"
        ),
        (
            "42P01",
            "run the output of sightline sinks sql postgresql, or set postgresql.migrate"
        ),
        ("42P07", "attach or rename the table that has the partition's name"),
        ("53100", "the server's disk is full: hits wait until there is room"),
        ("53300", "the server has no connection left: raise max_connections"),
        ("55P03", "another session holds a lock for longer than postgresql.lock_seconds"),
        ("57014", "it took longer than postgresql.statement_seconds"),
        ("57P0", "the server is stopping or starting"),
    ]
}

extension PostgreSQLError {
    /// The error of a connection that could not be made or was lost. libpq gives the server's code
    /// only within the verbose text: "FATAL:  28P01: password authentication failed…".
    ///
    /// - Parameter isLost: whether hits may have been sent, so that the server may quote them.
    init(reported text: String, isLost: Bool = false) {
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        for line in lines {
            guard let match = line.firstMatch(of: #/:  ([0-9A-Z]{5}): /#) else { continue }
            let message = line.replacingCharacters(in: match.range, with: ": ")
            self.init(state: String(match.1), isLost ? "" : message)
            self.serverMessage = isLost ? message : ""
            return
        }
        // Lines with a tab guess at what the cause may be.
        self.init(lines.filter { !$0.hasPrefix("\t") }.joined(separator: " "))
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        self[..<range.lowerBound] + text + self[range.upperBound...]
    }
}
#endif
