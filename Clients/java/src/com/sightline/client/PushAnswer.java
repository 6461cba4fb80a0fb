package com.sightline.client;

import static com.sightline.v1.PushSendReason.PUSH_SEND_REASON_CREDENTIALS;
import static com.sightline.v1.PushSendReason.PUSH_SEND_REASON_INVALID_PAYLOAD;
import static com.sightline.v1.PushSendReason.PUSH_SEND_REASON_INVALID_TOKEN;
import static com.sightline.v1.PushSendReason.PUSH_SEND_REASON_NETWORK;
import static com.sightline.v1.PushSendReason.PUSH_SEND_REASON_OTHER;
import static com.sightline.v1.PushSendReason.PUSH_SEND_REASON_PAYLOAD_TOO_LARGE;
import static com.sightline.v1.PushSendReason.PUSH_SEND_REASON_PROVIDER_ERROR;
import static com.sightline.v1.PushSendReason.PUSH_SEND_REASON_THROTTLED;
import static com.sightline.v1.PushSendReason.PUSH_SEND_REASON_UNREGISTERED;
import static com.sightline.v1.PushSendReason.PUSH_SEND_REASON_UNSPECIFIED;

import com.sightline.v1.PushSendOutcome;
import com.sightline.v1.PushSendReason;
import java.util.regex.Pattern;

/**
 * What the answer of a push service means for a sender's event. docs/sends.md has the table.
 *
 * @param outcome SENT or FAILED
 * @param reason why it failed, for {@link Events#pushSendFailed}; unspecified if it was sent
 * @param code the service's word for the reason, or else the status; empty if it was sent, or
 *         nothing came back
 */
public record PushAnswer(PushSendOutcome outcome, PushSendReason reason, String code) {
    private static final int TAKEN = 200;
    /** INVALID_ARGUMENT of FCM is about the token if one of the next two says so. */
    private static final String FCM_TOKEN_FIELD = "message.token";
    private static final String FCM_TOKEN_MESSAGE =
            "The registration token is not a valid FCM registration token";
    private static final String FCM_SIZE_MESSAGE = "Android message is too big";
    /** A code is shorter than a device's token, which may never become one. */
    private static final Pattern CODE = Pattern.compile("[A-Za-z0-9_]{1,63}");

    /**
     * What an answer of APNs means.
     *
     * @param status its HTTP status, 0 if none came
     * @param reason that of its body, or nothing
     */
    public static PushAnswer apns(int status, String reason) {
        return of(status, reason, switch (reason) {
            case "BadDeviceToken", "DeviceTokenNotForTopic", "MissingDeviceToken" ->
                    PUSH_SEND_REASON_INVALID_TOKEN;
            case "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
                    "DuplicateHeaders", "InvalidPushType", "MissingTopic", "PayloadEmpty",
                    "BadPath", "MethodNotAllowed" -> PUSH_SEND_REASON_INVALID_PAYLOAD;
            case "PayloadTooLarge" -> PUSH_SEND_REASON_PAYLOAD_TOO_LARGE;
            case "TopicDisallowed", "BadCertificate", "BadCertificateEnvironment",
                    "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
                    "ExpiredProviderToken", "Forbidden", "InvalidProviderToken",
                    "MissingProviderToken", "UnrelatedKeyIdInToken" -> PUSH_SEND_REASON_CREDENTIALS;
            case "ExpiredToken", "Unregistered" -> PUSH_SEND_REASON_UNREGISTERED;
            case "TooManyProviderTokenUpdates", "TooManyRequests" -> PUSH_SEND_REASON_THROTTLED;
            case "InternalServerError", "ServiceUnavailable", "Shutdown" ->
                    PUSH_SEND_REASON_PROVIDER_ERROR;
            case "IdleTimeout" -> PUSH_SEND_REASON_NETWORK;
            default -> PUSH_SEND_REASON_UNSPECIFIED;
        });
    }

    /**
     * What an answer of FCM means. INVALID_ARGUMENT is about the token if the field or the message
     * says so, else about the payload. What the answer does not have is empty.
     *
     * @param status its HTTP status, 0 if none came
     * @param errorCode the {@code errorCode} of the error's details, or else its {@code status}
     * @param field that of the details' first violation
     * @param message the error's
     */
    public static PushAnswer fcm(int status, String errorCode, String field, String message) {
        return of(status, errorCode, switch (errorCode) {
            case "INVALID_ARGUMENT" -> invalidArgument(field, message);
            case "SENDER_ID_MISMATCH" -> PUSH_SEND_REASON_INVALID_TOKEN;
            case "UNREGISTERED" -> PUSH_SEND_REASON_UNREGISTERED;
            case "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED" -> PUSH_SEND_REASON_THROTTLED;
            case "UNAVAILABLE", "INTERNAL" -> PUSH_SEND_REASON_PROVIDER_ERROR;
            case "THIRD_PARTY_AUTH_ERROR", "UNAUTHENTICATED", "PERMISSION_DENIED" ->
                    PUSH_SEND_REASON_CREDENTIALS;
            default -> PUSH_SEND_REASON_UNSPECIFIED;
        });
    }

    private static PushSendReason invalidArgument(String field, String message) {
        if (field.equals(FCM_TOKEN_FIELD)
                || field.isEmpty() && message.equals(FCM_TOKEN_MESSAGE)) {
            return PUSH_SEND_REASON_INVALID_TOKEN;
        }
        return message.equals(FCM_SIZE_MESSAGE)
                ? PUSH_SEND_REASON_PAYLOAD_TOO_LARGE : PUSH_SEND_REASON_INVALID_PAYLOAD;
    }

    /** The meaning of a status and of the reason that its word stands for, if that is known. */
    private static PushAnswer of(int status, String word, PushSendReason known) {
        if (status == TAKEN) {
            return new PushAnswer(PushSendOutcome.PUSH_SEND_OUTCOME_SENT,
                    PUSH_SEND_REASON_UNSPECIFIED, "");
        }
        if (status == 0) {
            return failed(PUSH_SEND_REASON_NETWORK, "");
        }
        return failed(known == PUSH_SEND_REASON_UNSPECIFIED ? reasonOf(status) : known,
                CODE.matcher(word).matches() ? word : Integer.toString(status));
    }

    private static PushAnswer failed(PushSendReason reason, String code) {
        return new PushAnswer(PushSendOutcome.PUSH_SEND_OUTCOME_FAILED, reason, code);
    }

    /** The reason where the answer has no word that is known, as a proxy's has none. */
    private static PushSendReason reasonOf(int status) {
        return switch (status) {
            case 401, 403 -> PUSH_SEND_REASON_CREDENTIALS;
            case 410 -> PUSH_SEND_REASON_UNREGISTERED;
            case 413 -> PUSH_SEND_REASON_PAYLOAD_TOO_LARGE;
            case 429 -> PUSH_SEND_REASON_THROTTLED;
            default -> status >= 500 ? PUSH_SEND_REASON_PROVIDER_ERROR : PUSH_SEND_REASON_OTHER;
        };
    }
}
