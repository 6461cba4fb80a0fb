// The inspector's results; the service and the command only translate them.

/// A likely problem in a payload.
package struct PayloadFinding: Sendable, Equatable {
    /// How bad a finding is, from the worst to the mildest.
    package enum Severity: Sendable, CaseIterable {
        /// Tracking fails, or the push is not delivered.
        case error
        /// Tracking works, but something else may not.
        case warning
        /// Good to know.
        case note
    }

    /// How bad it is.
    package let severity: Severity
    /// The key's path, such as "aps.mutable-content"; empty for a finding on the whole payload. The
    /// sender chose it, so it is escaped and shortened.
    package let key: String
    /// What is wrong, the value seen (shortened), the rule, and the fix.
    package let description: String

    /// A finding about one key.
    package init(_ severity: Severity, _ key: String, _ description: String) {
        self.severity = severity
        self.key = key
        self.description = description
    }
}

/// The findings of one check, in order, up to the number that an inspection keeps. Further ones are
/// not even worded: a payload may hold thousands of keys.
struct PayloadFindings {
    private(set) var list: [PayloadFinding] = []

    mutating func add(
        _ severity: PayloadFinding.Severity, _ key: @autoclosure () -> String,
        _ description: @autoclosure () -> String
    ) {
        let count = self.list.count { $0.severity == severity }
        guard count < PayloadInspection.maximumFindingCount else { return }
        self.list.append(PayloadFinding(severity, key(), description()))
    }
}

/// The result of inspecting one payload.
package struct PayloadInspection: Sendable, Equatable {
    /// The maximum number of findings; the worst are kept.
    package static let maximumFindingCount = 64

    /// Whether an interaction with this payload would be tracked: true if and only if no finding is
    /// an error (D55).
    package let tracked: Bool
    /// The findings, the worst first; among equals, those on ids before those on the notification.
    package let findings: [PayloadFinding]

    init(_ findings: [PayloadFinding]) {
        let worstFirst = PayloadFinding.Severity.allCases.flatMap { severity in
            findings.filter { $0.severity == severity }
        }
        self.tracked = worstFirst.first?.severity != .error
        self.findings = Array(worstFirst.prefix(Self.maximumFindingCount))
    }
}
