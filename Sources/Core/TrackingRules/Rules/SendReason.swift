/// Why a push was not sent; the numbers are those of the proto enum.
package enum SendReason: Int32, Sendable, CaseIterable {
    case unregistered = 1
    case invalidToken = 2
    case invalidPayload = 3
    case payloadTooLarge = 4
    case credentials = 5
    case throttled = 6
    case providerError = 7
    case network = 8
    case expired = 9
    case noConsent = 10
    case other = 11

    /// The highest number.
    static let last = Self.other.rawValue

    /// The name in databases and messages, e.g. "invalid_token".
    package var name: StaticString {
        switch self {
        case .unregistered: "unregistered"
        case .invalidToken: "invalid_token"
        case .invalidPayload: "invalid_payload"
        case .payloadTooLarge: "payload_too_large"
        case .credentials: "credentials"
        case .throttled: "throttled"
        case .providerError: "provider_error"
        case .network: "network"
        case .expired: "expired"
        case .noConsent: "no_consent"
        case .other: "other"
        }
    }
}
