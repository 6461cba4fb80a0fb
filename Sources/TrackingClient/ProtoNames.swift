// The contract's names of its enums, without their prefixes, for tables and messages.
package import SightlineProtos

extension Sightline_V1_Verdict {
    /// The name in verdict.proto without its prefix, e.g. `SUPPRESSED_FLAG_OFF`.
    package var name: String {
        switch self {
        case .unspecified: "UNSPECIFIED"
        case .accepted: "ACCEPTED"
        case .suppressedFlagOff: "SUPPRESSED_FLAG_OFF"
        case .suppressedFlagUnknown: "SUPPRESSED_FLAG_UNKNOWN"
        case .suppressedConsent: "SUPPRESSED_CONSENT"
        case .suppressedTestMessage: "SUPPRESSED_TEST_MESSAGE"
        case .suppressedDisplay: "SUPPRESSED_DISPLAY"
        case .duplicate: "DUPLICATE"
        case .rejected: "REJECTED"
        case .retryLater: "RETRY_LATER"
        case .UNRECOGNIZED(let number): "VERDICT_\(number)"
        }
    }
}

extension Sightline_V1_HitKind {
    /// The name in verdict.proto without its prefix, e.g. `IN_APP_CLICK`.
    package var name: String {
        switch self {
        case .unspecified: "UNSPECIFIED"
        case .impression: "IMPRESSION"
        case .click: "CLICK"
        case .open: "OPEN"
        case .button1: "BUTTON_1"
        case .button2: "BUTTON_2"
        case .close: "CLOSE"
        case .inAppImpression: "IN_APP_IMPRESSION"
        case .inAppClick: "IN_APP_CLICK"
        case .inAppDismissal: "IN_APP_DISMISSAL"
        case .inAppDisplayError: "IN_APP_DISPLAY_ERROR"
        case .UNRECOGNIZED(let number): "HIT_KIND_\(number)"
        }
    }
}

extension Sightline_V1_ViolationCode {
    /// The name in verdict.proto without its prefix, e.g. `REQUIRED`.
    package var name: String {
        switch self {
        case .unspecified: "UNSPECIFIED"
        case .required: "REQUIRED"
        case .format: "FORMAT"
        case .range: "RANGE"
        case .tooLarge: "TOO_LARGE"
        case .conflict: "CONFLICT"
        case .malformed: "MALFORMED"
        case .UNRECOGNIZED(let number): "VIOLATION_CODE_\(number)"
        }
    }
}

extension Sightline_V1_Warning {
    /// The name in verdict.proto without its prefix, e.g. `CLOCK_SKEW`.
    package var name: String {
        switch self {
        case .unspecified: "UNSPECIFIED"
        case .flagAssumedOn: "FLAG_ASSUMED_ON"
        case .impressionUnreliable: "IMPRESSION_UNRELIABLE"
        case .openWithoutClick: "OPEN_WITHOUT_CLICK"
        case .openAfterDismiss: "OPEN_AFTER_DISMISS"
        case .impressionAfterClick: "IMPRESSION_AFTER_CLICK"
        case .mediaWithoutMutableContent: "MEDIA_WITHOUT_MUTABLE_CONTENT"
        case .idNotHex: "ID_NOT_HEX"
        case .clockSkew: "CLOCK_SKEW"
        case .UNRECOGNIZED(let number): "WARNING_\(number)"
        }
    }
}
