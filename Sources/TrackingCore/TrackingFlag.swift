// The tracking flag _acsDeliveryTracking, read as the vendor's clients do (D1…D7, D46).

/// What a tracking flag says on its platform.
enum TrackingFlag: Equatable {
    case absent
    case on
    case off
    case unknown

    /// Reads a flag: Android compares exactly, iOS ignores the case of ASCII letters (D4, D46).
    init(_ value: Bytes?, platform: Platform) {
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

    /// The verdict of a flag that lets nothing through; nil where it tracks.
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
