/// The outcome for an event; the numbers are those of verdict.proto.
package enum Verdict: UInt8, Sendable, CaseIterable {
    case accepted = 1
    case suppressedFlagOff = 2
    case suppressedFlagUnknown = 3
    case suppressedConsent = 4
    case suppressedTestMessage = 5
    case suppressedDisplay = 6
    case duplicate = 7
    case rejected = 8
    case retryLater = 9

    /// The name in metrics and logs, e.g. "suppressed_flag_off".
    package var name: StaticString {
        switch self {
        case .accepted: "accepted"
        case .suppressedFlagOff: "suppressed_flag_off"
        case .suppressedFlagUnknown: "suppressed_flag_unknown"
        case .suppressedConsent: "suppressed_consent"
        case .suppressedTestMessage: "suppressed_test_message"
        case .suppressedDisplay: "suppressed_display"
        case .duplicate: "duplicate"
        case .rejected: "rejected"
        case .retryLater: "retry_later"
        }
    }

    /// The verdict with a name, in upper or lower case.
    package init?(name: String) {
        let name = name.lowercased()
        guard let verdict = Self.allCases.first(where: { "\($0.name)" == name }) else {
            return nil
        }
        self = verdict
    }
}

/// The Campaign product that created a delivery (D12).
package enum Product: UInt8, Sendable, CaseIterable {
    case standard = 0
    case classic = 1
    /// No Campaign product: a Firebase in-app message.
    case firebase = 2

    /// The name in the configuration and in messages.
    package var name: String {
        switch self {
        case .standard: "standard"
        case .classic: "classic"
        case .firebase: "firebase"
        }
    }

    /// The product with a CampaignProduct's number; nil if it is unspecified or unknown.
    init?(number: Int32) {
        switch number {
        case 0, 1: self = .standard
        case 2: self = .classic
        default: return nil
        }
    }
}

/// The kind of a hit; the numbers are those of verdict.proto.
package enum HitKind: UInt8, Sendable, CaseIterable {
    case impression = 1
    case click = 2
    case open = 3
    case button1 = 4
    case button2 = 5
    case close = 6
    case inAppImpression = 7
    case inAppClick = 8
    case inAppDismissal = 9
    case inAppDisplayError = 10
    case sent = 11
    case sendFailed = 12
    case sendSkipped = 13
    case inAppTriggered = 14
    case inAppSuppressed = 15

    /// The product's own number for the kind (D9, D12); 0 if it has none.
    package func campaignAction(of product: Product) -> UInt32 {
        switch (product, self) {
        case (.standard, .open), (.classic, .impression): 1
        case (.standard, .click), (.classic, .click): 2
        case (.standard, .button1): 3
        case (.standard, .button2): 4
        case (.standard, .close): 5
        case (.standard, .impression): 7
        default: 0
        }
    }

    /// The name in databases and messages, e.g. "in_app_click".
    package var name: StaticString {
        switch self {
        case .impression: "impression"
        case .click: "click"
        case .open: "open"
        case .button1: "button_1"
        case .button2: "button_2"
        case .close: "close"
        case .inAppImpression: "in_app_impression"
        case .inAppClick: "in_app_click"
        case .inAppDismissal: "in_app_dismissal"
        case .inAppDisplayError: "in_app_display_error"
        case .sent: "sent"
        case .sendFailed: "send_failed"
        case .sendSkipped: "send_skipped"
        case .inAppTriggered: "in_app_triggered"
        case .inAppSuppressed: "in_app_suppressed"
        }
    }
}

/// A set of hit kinds: bit n is the HitKind with number n. Ascending order is the order of hits
/// that D14 demands: a click before its open.
package struct HitKinds: OptionSet, Sendable, Equatable {
    /// Bit n is set for the HitKind with number n.
    package let rawValue: UInt16
    /// Creates a set from its bits.
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    /// All kinds.
    static let all = HitKinds(rawValue: 0xfffe)
    /// What a sender reports of a push; all others are what a device reports.
    package static let sends = HitKinds(rawValue: 0x3800)
    /// What a sender reports of a push that it tried to send.
    package static let attempts = HitKinds(rawValue: 0x1800)
    /// Creates a set of one kind.
    package init(_ kind: HitKind) { self.rawValue = 1 << UInt16(kind.rawValue) }

    /// The kinds in ascending order.
    package var kinds: [HitKind] { HitKind.allCases.filter { self.contains(HitKinds($0)) } }

    /// Whether the set is empty. Other modules call it for every event; there, SetAlgebra's version
    /// would be unspecialized generic code.
    package var isEmpty: Bool { self.rawValue == 0 }
}

/// Warnings about an accepted event: bit n is the proto enum's number n.
package struct Warnings: OptionSet, Sendable, Equatable {
    /// Bit n is set for the warning with number n.
    package let rawValue: UInt16
    /// Creates a set from its bits.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The flag is absent and was assumed to be on (D3, D7).
    package static let flagAssumedOn = Warnings(rawValue: 1 << 1)
    /// iOS does not report every impression (D16).
    package static let impressionUnreliable = Warnings(rawValue: 1 << 2)
    /// An open without an earlier click (D18).
    package static let openWithoutClick = Warnings(rawValue: 1 << 3)
    /// An open after the notification was dismissed (D18).
    package static let openAfterDismiss = Warnings(rawValue: 1 << 4)
    /// An impression after a click (D18).
    package static let impressionAfterClick = Warnings(rawValue: 1 << 5)
    /// The payload has media-attachment-url but not mutable-content (D13).
    package static let mediaWithoutMutableContent = Warnings(rawValue: 1 << 6)
    /// An id is not as Campaign Standard makes it: a hexadecimal _dId, and an _mId of `h` and
    /// hexadecimal digits (D49).
    package static let idNotHex = Warnings(rawValue: 1 << 7)
    /// The device's clock differs much from the server's (D41).
    package static let clockSkew = Warnings(rawValue: 1 << 8)
    /// A tracked link in `uri` or `sound` carries other ids than the payload (D56).
    package static let linkContradictsIDs = Warnings(rawValue: 1 << 9)
    /// An id is a placeholder, such as `null` (D57).
    package static let idPlaceholder = Warnings(rawValue: 1 << 10)
    /// A text of a raw payload has half of a surrogate pair (D58).
    package static let unpairedSurrogate = Warnings(rawValue: 1 << 11)
    /// An impression of a payload without alert, title and body (D63).
    package static let nothingShown = Warnings(rawValue: 1 << 12)

    /// Whether no warning is set; declared for the same reason as in `HitKinds`.
    package var isEmpty: Bool { self.rawValue == 0 }

    /// The warnings' names in the order of their numbers, e.g. "flag_assumed_on".
    package var names: [String] { self.numbers.compactMap(Self.name) }

    /// The name of a number; nil for an unknown one.
    package static func name(of number: UInt8) -> String? {
        self.names.indices.contains(Int(number) - 1) ? self.names[Int(number) - 1] : nil
    }

    /// The warnings with these names, separated by commas; unknown names are ignored.
    package init(names: String) {
        let numbers = names.split(separator: ",").compactMap { name in
            Self.names.firstIndex { $0 == name }
        }
        self.init(rawValue: numbers.reduce(0) { $0 | 1 << UInt16($1 + 1) })
    }

    /// The warnings with these numbers; unknown numbers are ignored.
    package init(numbers: [Int]) {
        let known = numbers.filter((1...Self.names.count).contains)
        self.init(rawValue: known.reduce(0) { $0 | 1 << UInt16($1) })
    }

    /// The warnings' numbers in the proto enum, ascending.
    package var numbers: [UInt8] {
        (1...UInt8(Self.names.count)).filter { self.rawValue & 1 << UInt16($0) != 0 }
    }

    private static let names = [
        "flag_assumed_on", "impression_unreliable", "open_without_click", "open_after_dismiss",
        "impression_after_click", "media_without_mutable_content", "id_not_hex", "clock_skew",
        "link_contradicts_ids", "id_placeholder", "unpaired_surrogate",
        "nothing_shown",
    ]
}
