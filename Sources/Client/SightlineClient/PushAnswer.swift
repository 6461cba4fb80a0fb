public import SightlineProtos

/// What the answer of a push service means for a sender's event. docs/sends.md has the table.
public struct PushAnswer: Hashable, Sendable {
    /// `sent` or `failed`.
    public let outcome: Sightline_V1_PushSendOutcome
    /// Why it failed; `unspecified` if it was sent.
    public let reason: Sightline_V1_PushSendReason
    /// The service's word for the reason, or else the status; empty if it was sent, or nothing came
    /// back.
    public let code: String

    /// What an answer of APNs means.
    ///
    /// - Parameters:
    ///   - status: its HTTP status; 0 if none came.
    ///   - reason: that of its body.
    public static func apns(status: Int, reason: String = "") -> Self {
        Self(status: status, word: reason, known: Self.apnsReason(reason))
    }

    /// What an answer of FCM means. `INVALID_ARGUMENT` is about the token if the field or the
    /// message says so, else about the payload.
    ///
    /// - Parameters:
    ///   - status: its HTTP status; 0 if none came.
    ///   - errorCode: the `errorCode` of the error's details, or else its `status`.
    ///   - field: that of the details' first violation.
    ///   - message: the error's.
    public static func fcm(
        status: Int, errorCode: String = "", field: String = "", message: String = ""
    ) -> Self {
        let known = Self.fcmReason(errorCode, field: field, message: message)
        return Self(status: status, word: errorCode, known: known)
    }

    /// The meaning of a status and of the reason that its word stands for, if that is known.
    private init(status: Int, word: String, known: Sightline_V1_PushSendReason) {
        if status == Self.taken {
            (self.outcome, self.reason, self.code) = (.sent, .unspecified, "")
        } else if status == 0 {
            (self.outcome, self.reason, self.code) = (.failed, .network, "")
        } else {
            // Text may equal a known word in other bytes: then it is none.
            let isCode = Self.isCode(word)
            self.outcome = .failed
            self.reason = isCode && known != .unspecified ? known : Self.reason(of: status)
            self.code = isCode ? word : String(status)
        }
    }

    private static let taken = 200
    private static let fcmTokenField = "message.token"
    private static let fcmTokenMessage =
        "The registration token is not a valid FCM registration token"
    private static let fcmSizeMessage = "Android message is too big"
    /// A code is shorter than a device's token, which may never become one.
    private static let maxCodeBytes = 63

    private static func apnsReason(_ word: String) -> Sightline_V1_PushSendReason {
        switch word {
        case "BadDeviceToken", "DeviceTokenNotForTopic", "MissingDeviceToken": .invalidToken
        case "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
            "DuplicateHeaders", "InvalidPushType", "MissingTopic", "PayloadEmpty", "BadPath",
            "MethodNotAllowed":
            .invalidPayload
        case "PayloadTooLarge": .payloadTooLarge
        case "TopicDisallowed", "BadCertificate", "BadCertificateEnvironment",
            "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken", "ExpiredProviderToken",
            "Forbidden", "InvalidProviderToken", "MissingProviderToken", "UnrelatedKeyIdInToken":
            .credentials
        case "ExpiredToken", "Unregistered": .unregistered
        case "TooManyProviderTokenUpdates", "TooManyRequests": .throttled
        case "InternalServerError", "ServiceUnavailable", "Shutdown": .providerError
        case "IdleTimeout": .network
        default: .unspecified
        }
    }

    private static func fcmReason(
        _ word: String, field: String, message: String
    ) -> Sightline_V1_PushSendReason {
        switch word {
        case "INVALID_ARGUMENT":
            if field == Self.fcmTokenField || field.isEmpty && message == Self.fcmTokenMessage {
                .invalidToken
            } else {
                message == Self.fcmSizeMessage ? .payloadTooLarge : .invalidPayload
            }
        case "SENDER_ID_MISMATCH": .invalidToken
        case "UNREGISTERED": .unregistered
        case "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED": .throttled
        case "UNAVAILABLE", "INTERNAL": .providerError
        case "THIRD_PARTY_AUTH_ERROR", "UNAUTHENTICATED", "PERMISSION_DENIED": .credentials
        default: .unspecified
        }
    }

    /// The reason where the answer has no word that is known, as a proxy's has none.
    private static func reason(of status: Int) -> Sightline_V1_PushSendReason {
        switch status {
        case 401, 403: .credentials
        case 410: .unregistered
        case 413: .payloadTooLarge
        case 429: .throttled
        case 500...: .providerError
        default: .other
        }
    }

    private static func isCode(_ word: String) -> Bool {
        (1...Self.maxCodeBytes).contains(word.utf8.count)
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
