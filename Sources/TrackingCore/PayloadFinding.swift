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

/// All that an inspection of one payload gives.
package struct PayloadInspection: Sendable, Equatable {
    /// How many findings are kept at most: the worst ones.
    package static let maximumFindingCount = 64

    /// Whether the vendor's client code would send anything for this payload. True also for one
    /// that is too big to arrive: what arrives is not the client's to decide.
    package let tracked: Bool
    /// The findings, the worst first; among equals, those on ids before those on looks.
    package let findings: [PayloadFinding]

    init(tracked: Bool, findings: [PayloadFinding]) {
        let worstFirst = PayloadFinding.Severity.allCases.flatMap { severity in
            findings.filter { $0.severity == severity }
        }
        self.tracked = tracked
        self.findings = Array(worstFirst.prefix(Self.maximumFindingCount))
    }
}
