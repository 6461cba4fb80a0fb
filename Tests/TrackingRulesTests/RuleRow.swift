// One row of the rules' tables: an event, and its outcome written as one line.

internal import TestSupport
internal import Testing
@testable internal import TrackingRules

/// An event and what the rules have to say of it, e.g. "accepted: click, open +flag_assumed_on" or
/// "rejected: push.kind required, platform conflict".
struct RuleRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let event: TestEvent
    let outcome: String
    let policy: Policy

    init(_ name: String, _ event: TestEvent, _ outcome: String, policy: Policy = Policy()) {
        self.testDescription = name
        self.event = event
        self.outcome = outcome
        self.policy = policy
    }

    func check() throws {
        let judgement = try self.event.judged(by: RuleSet(policy: self.policy))
        #expect(judgement.line == self.outcome)
        // Each violation says what to do, not only what is wrong.
        for violation in judgement.violations {
            #expect(violation.description.contains(":"), "\(violation)")
        }
    }
}

extension Judgement {
    /// The judgement as one line of a table.
    var line: String {
        let hits = self.hits.kinds.map { "\($0.name)" }.joined(separator: ", ")
        let violations = self.violations.map { "\($0.field) \("\($0.code)".snakeCase)" }
            .joined(separator: ", ")
        let details = [hits, violations].filter { !$0.isEmpty }.joined()
        return "\(self.verdict)".snakeCase + (details.isEmpty ? "" : ": \(details)")
            + self.warnings.names.map { " +\($0)" }.joined()
    }
}

extension String {
    /// suppressedFlagOff becomes suppressed_flag_off.
    var snakeCase: String {
        self.map { $0.isUppercase ? "_\($0.lowercased())" : "\($0)" }.joined()
    }
}
