internal import SightlineProtos

/// An event's result as printed with --json; absent parts are omitted.
struct ResultLine: Encodable {
    /// A rule that the event breaks.
    struct Violation: Encodable {
        let field: String
        let code: String
        let description: String
    }

    let file: String
    let line: Int?
    let eventID: String
    let verdict: String
    let hits: [String]
    let violations: [Violation]?
    let warnings: [String]?
    let explanation: [String]?

    init(_ outcome: EventOutcome) {
        let result = outcome.result
        self.file = outcome.origin.file
        self.line = outcome.origin.line
        self.eventID = result.eventID
        self.verdict = result.verdict.name
        self.hits = result.hits.map(\.name)
        self.violations = Self.nonEmpty(
            result.violations.map {
                Violation(field: $0.field, code: $0.code.name, description: $0.description_p)
            })
        self.warnings = Self.nonEmpty(result.warnings.map(\.name))
        self.explanation = Self.nonEmpty(result.explanation)
    }

    private static func nonEmpty<Part>(_ parts: [Part]) -> [Part]? {
        parts.isEmpty ? nil : parts
    }
}
