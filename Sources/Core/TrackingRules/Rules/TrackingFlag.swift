package import WireFormat

/// The value of the tracking flag _acsDeliveryTracking, as the vendor's clients read it (D1…D7,
/// D46).
package enum TrackingFlag: Equatable {
    case absent
    case on
    case off
    case unknown

    /// Parses a flag: Android compares exactly, iOS ignores the case of ASCII letters (D4, D46).
    package init(_ value: Bytes?, platform: Platform) {
        guard let value else {
            self = .absent
            return
        }
        switch platform {
        case .android: self = value.equals("on") ? .on : value.equals("off") ? .off : .unknown
        case .ios:
            self =
                value.equalsIgnoringCase("on")
                ? .on : value.equalsIgnoringCase("off") ? .off : .unknown
        }
    }

    /// The verdict if the flag suppresses tracking; nil if it allows it.
    var suppression: Verdict? {
        switch self {
        case .absent, .on: nil
        case .off: .suppressedFlagOff
        case .unknown: .suppressedFlagUnknown
        }
    }

    var explanation: String {
        switch self {
        case .absent: "absent, taken as on (D3)"
        case .on: "on"
        case .off: "off: nothing is tracked (D2)"
        case .unknown: "neither on nor off: not tracked, a broken integration (D5, D6)"
        }
    }
}
