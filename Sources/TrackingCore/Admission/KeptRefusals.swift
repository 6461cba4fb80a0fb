/// Which refused events an admitted request keeps for those who look at them later. None is kept
/// without consent, nor if it cannot be parsed: it may then be anybody's (D23).
package enum KeptRefusals: Sendable {
    /// None, as long as nobody looks.
    case none
    /// All of them.
    case all

    func includes(_ verdict: Verdict) -> Bool {
        switch self {
        case .none: false
        case .all: verdict != .suppressedConsent
        }
    }
}
