// What the inspector tells of a payload; the service and the command only translate it.

/// Something worth knowing of a payload.
package struct PayloadFinding: Sendable, Equatable {
    /// How bad a finding is. The order is from the worst to the mildest.
    package enum Severity: Sendable, CaseIterable {
        /// Tracking fails, or the push does not arrive.
        case error
        /// Tracking works, and something else may not.
        case warning
        /// Good to know.
        case note
    }

    /// How bad it is.
    package let severity: Severity
    /// Path of the key, e.g. "aps.mutable-content"; empty where the whole payload is meant. Escaped
    /// and bounded, for the sender has chosen it.
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

/// Findings of one check in their order, as far as an inspection can keep them: what is beyond is
/// not even worded, for one payload may hold thousands of keys.
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

/// All that an inspection of one payload gives.
package struct PayloadInspection: Sendable, Equatable {
    /// How many findings are kept at most: the worst ones.
    package static let maximumFindingCount = 64

    /// Whether an interaction with this payload would be tracked: exactly where no finding is an
    /// error (D55).
    package let tracked: Bool
    /// The findings, the worst first; among equals, those on ids before those on looks.
    package let findings: [PayloadFinding]

    init(_ findings: [PayloadFinding]) {
        let worstFirst = PayloadFinding.Severity.allCases.flatMap { severity in
            findings.filter { $0.severity == severity }
        }
        self.tracked = worstFirst.first?.severity != .error
        self.findings = Array(worstFirst.prefix(Self.maximumFindingCount))
    }
}
