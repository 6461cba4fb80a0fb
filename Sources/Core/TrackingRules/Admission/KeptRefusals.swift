/// Which refused events an admitted request keeps for those who look at them later. None is kept
/// without consent, nor if it cannot be parsed: it may then be anybody's (D23).
package enum KeptRefusals: Sendable {
    /// None, as long as nobody looks.
    case none
    /// Those that other rules might accept.
    case recoverable
    /// All of them.
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
    /// Whether other rules might accept the event: it is rejected, or its flag is unknown.
    package var isRecoverable: Bool { self == .rejected || self == .suppressedFlagUnknown }
}
