/// What became of an event, as the ledger counts it. The numbers are stored and must never change.
package struct LedgerOutcome: RawRepresentable, Hashable, Sendable {
    /// 1 to 16: accepted. 17 to 32: duplicate. 33 to 47: a warning. From 48 on: the constants
    /// below.
    package let rawValue: UInt8
    /// Creates an outcome from its number.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The numbers are below it: `LedgerDelta` has a bit of a `UInt64` for each.
    package static let count = 64

    /// The meaning of a number.
    package enum Meaning: Equatable, Sendable {
        /// Accepted, with new hits of these kinds.
        case accepted(HitKinds)
        /// A duplicate, with known hits of these kinds.
        case duplicate(HitKinds)
        /// An accepted event has the warning with this number; if it is that of a placeholder, a
        /// duplicate may have it too.
        case warning(UInt8)
        /// An accepted event is an impression that iOS reported while the app was closed (D16).
        case closedImpression
        /// Suppressed or rejected.
        case refused(Verdict)
        /// An event of an app's version, which another row counts as well.
        case version
        /// A sender's fact by its reason or display, which another row counts as well.
        case send
        /// An accepted event makes its notification one that was sent and of which an attempt
        /// failed (D60), in either order.
        case sentAndFailed
    }

    /// The number's meaning; nil for an unknown one.
    package var meaning: Meaning? {
        switch self.rawValue {
        case 1...16: .accepted(Self.kinds(of: self.rawValue))
        case 17...32: .duplicate(Self.kinds(of: self.rawValue - 16))
        case 33...47: .warning(self.rawValue - 32)
        case 48: .closedImpression
        case 55: .version
        case 56: .send
        case 57: .sentAndFailed
        default: Self.refusals.first { $0.1 == self.rawValue }.map { .refused($0.0) }
        }
    }

    /// Accepted with these hits.
    package static func accepted(_ kinds: HitKinds) -> Self { Self(rawValue: Self.number(kinds)) }

    /// A duplicate of these hits.
    package static func duplicate(_ kinds: HitKinds) -> Self {
        Self(rawValue: 16 + Self.number(kinds))
    }

    /// A warning's number.
    package static func warning(_ number: UInt8) -> Self { Self(rawValue: 32 + (number & 15)) }

    /// An impression of a payload that shows nothing (D63), as its warning counts it.
    package static let nothingShown = Self.warning(12)

    /// An impression of a closed app on iOS.
    package static let closedImpression = Self(rawValue: 48)

    /// An event of an app's version: the detail is the event's own outcome (1), and the version.
    package static let version = Self(rawValue: 55)

    /// A sender's fact: the detail is the fact's own outcome (1), and its `SendMark` (1).
    package static let send = Self(rawValue: 56)

    /// A notification that was sent and of which an attempt failed, counted at the later of the
    /// two: so that who adds up those that were sent and those that failed can tell how many there
    /// are.
    package static let sentAndFailed = Self(rawValue: 57)

    /// Whether a sender tried to send a push.
    package var isSendAttempt: Bool {
        self == .accepted(HitKinds(.sent)) || self == .accepted(HitKinds(.sendFailed))
    }

    /// Whether it is an event's own outcome, of which each has one, and nothing that other rows
    /// count as well.
    package var isEvent: Bool {
        switch self.meaning {
        case .accepted, .duplicate, .refused: true
        case .warning, .closedImpression, .version, .send, .sentAndFailed, nil: false
        }
    }

    /// A verdict of the rules other than accepted.
    package static func refused(_ verdict: Verdict) -> Self {
        Self(rawValue: Self.refusals.first { $0.0 == verdict }?.1 ?? 54)
    }

    private static let refusals: [(Verdict, UInt8)] = [
        (.suppressedFlagOff, 49), (.suppressedFlagUnknown, 50), (.suppressedConsent, 51),
        (.suppressedTestMessage, 52), (.suppressedDisplay, 53), (.rejected, 54),
    ]

    /// The only set of two: an event gives one hit, or a click and an open (D14).
    private static let clickAndOpen: HitKinds = [HitKinds(.click), HitKinds(.open)]

    /// The numbers of a click with its open, and from it on of the kinds that came later: they are
    /// one higher than in `HitKind`.
    private static let numberOfBoth: UInt8 = 11

    private static func number(_ kinds: HitKinds) -> UInt8 {
        if kinds == Self.clickAndOpen { return Self.numberOfBoth }
        let kind = UInt8(truncatingIfNeeded: kinds.rawValue.trailingZeroBitCount)
        return kind < Self.numberOfBoth ? kind : kind &+ 1
    }

    private static func kinds(of number: UInt8) -> HitKinds {
        if number == Self.numberOfBoth { return Self.clickAndOpen }
        return HitKinds(rawValue: 1 << UInt16(number < Self.numberOfBoth ? number : number &- 1))
    }
}
