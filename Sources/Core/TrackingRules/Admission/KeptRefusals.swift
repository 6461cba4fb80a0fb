/// Which refused events an admitted request keeps for the quarantine and the tap. An event without
/// consent is never kept, nor one that cannot be parsed: nobody can say whose it is (D23). Nor is a
/// sender's fact that has what looks like a device's token (D62).
package enum KeptRefusals: Sendable {
    /// None: nothing would read them.
    case none
    /// The events that other rules might accept.
    case recoverable
    /// All events that may be kept.
    case all

    func includes(_ verdict: Verdict) -> Bool {
        switch self {
        case .none: false
        case .recoverable: verdict.isRecoverable
        case .all: verdict != .suppressedConsent
        }
    }
}

extension Verdict {
    /// Whether other rules might accept the event: it was rejected, or its flag was unknown.
    package var isRecoverable: Bool { self == .rejected || self == .suppressedFlagUnknown }
}
