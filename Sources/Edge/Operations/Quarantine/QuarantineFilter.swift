internal import GRDB
package import TrackingRules

/// Selects kept events: those that meet all conditions.
package struct QuarantineFilter: Sendable, Equatable {
    /// The code of a violation.
    package var code: Violation.Code?
    /// The field of a violation; of the violation with `code`, if both are set.
    package var field: String?
    /// The tenant.
    package var tenant: String?
    /// The app, as it was sent.
    package var app: String?
    /// The delivery or the in-app message.
    package var delivery: String?
    /// The verdict: rejected, or suppressed for the unknown flag.
    package var verdict: Verdict?
    /// The earliest time of receipt, in microseconds since 1970.
    package var since: Int64?
    /// The end of the time of receipt, exclusive.
    package var until: Int64?

    /// Creates a filter that matches all events.
    package init() {}

    /// The conditions in SQL, with their arguments.
    var sql: (condition: String, arguments: StatementArguments) {
        var conditions: [String] = []
        var arguments = StatementArguments()
        func add(_ condition: String, _ value: (any DatabaseValueConvertible)?) {
            guard let value else { return }
            conditions.append(condition)
            arguments += [value]
        }
        add("instr(char(10) || violations || char(10), ?) > 0", self.violationText)
        add("tenant = ?", self.tenant)
        add("app_id = ?", self.app)
        add("delivery_id = ?", self.delivery)
        add("verdict = ?", self.verdict.map { "\($0.name)" })
        add("receive_time >= ?", self.since)
        add("receive_time < ?", self.until)
        return (conditions.map { "(\($0))" }.joined(separator: " AND "), arguments)
    }

    /// The text to find in the lines of violations, each of which is `code field`.
    private var violationText: String? {
        switch (self.code, self.field) {
        case (nil, nil): nil
        case (let code?, nil): "\n\(code.name) "
        case (nil, let field?): " \(field)\n"
        case (let code?, let field?): "\n\(code.name) \(field)\n"
        }
    }
}

extension QuarantineFilter {
    /// The names of the conditions.
    package static let names = [
        "code", "field", "tenant", "app", "delivery", "verdict", "since", "until",
    ]

    /// Sets a condition by its name, as used by the admin socket and the command. Times are
    /// microseconds since 1970.
    ///
    /// - Throws: `QuarantineFilterError` for an unknown name or value.
    package mutating func add(
        _ name: String, _ value: String
    ) throws(QuarantineFilterError) {
        switch name {
        case "code": self.code = try Self.code(value)
        case "field": self.field = value
        case "tenant": self.tenant = value
        case "app": self.app = value
        case "delivery": self.delivery = value
        case "verdict": self.verdict = try Self.verdict(value)
        case "since": self.since = try Self.time(name, value)
        case "until": self.until = try Self.time(name, value)
        default:
            throw QuarantineFilterError(
                description: "there is no condition \"\(name)\"; there are: "
                    + Self.names.joined(separator: ", "))
        }
    }

    private static func code(_ name: String) throws(QuarantineFilterError) -> Violation.Code {
        let codes = Violation.Code.allCases
        if let code = codes.first(where: { "\($0.name)" == name.lowercased() }) { return code }
        throw QuarantineFilterError(
            description: "code is \"\(name)\"; there are: "
                + codes.map { "\($0.name)" }.joined(separator: ", "))
    }

    private static func verdict(_ name: String) throws(QuarantineFilterError) -> Verdict {
        if let verdict = Verdict(name: name), verdict.isRecoverable { return verdict }
        throw QuarantineFilterError(
            description: "verdict is \"\(name)\", and kept are: "
                + Verdict.allCases.filter(\.isRecoverable).map { "\($0.name)" }
                .joined(separator: ", "))
    }

    private static func time(
        _ name: String, _ value: String
    ) throws(QuarantineFilterError) -> Int64 {
        if let time = Int64(value) { return time }
        throw QuarantineFilterError(
            description: "\(name) is \"\(value)\": give microseconds since 1970")
    }
}

/// An invalid condition.
package struct QuarantineFilterError: Error, CustomStringConvertible {
    /// The condition's name and value, and the valid ones.
    package let description: String

    /// Creates the error.
    package init(description: String) { self.description = description }
}
