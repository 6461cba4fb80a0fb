package sightline

import (
	"regexp"
	"strconv"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

// PushAnswer is what the answer of a push service means for a sender's event.
type PushAnswer struct {
	// Outcome is SENT or FAILED.
	Outcome pb.PushSendOutcome
	// Reason says why it failed, for PushSendFailed; unspecified if it was sent.
	Reason pb.PushSendReason
	// Code is the service's word for the reason, or else the status; empty if it was sent, or
	// nothing came back.
	Code string
}

// Short names of reasons, for the tables below.
const (
	reasonUnregistered    = pb.PushSendReason_PUSH_SEND_REASON_UNREGISTERED
	reasonInvalidToken    = pb.PushSendReason_PUSH_SEND_REASON_INVALID_TOKEN
	reasonInvalidPayload  = pb.PushSendReason_PUSH_SEND_REASON_INVALID_PAYLOAD
	reasonPayloadTooLarge = pb.PushSendReason_PUSH_SEND_REASON_PAYLOAD_TOO_LARGE
	reasonCredentials     = pb.PushSendReason_PUSH_SEND_REASON_CREDENTIALS
	reasonThrottled       = pb.PushSendReason_PUSH_SEND_REASON_THROTTLED
	reasonProviderError   = pb.PushSendReason_PUSH_SEND_REASON_PROVIDER_ERROR
	reasonNetwork         = pb.PushSendReason_PUSH_SEND_REASON_NETWORK
	reasonOther           = pb.PushSendReason_PUSH_SEND_REASON_OTHER
	reasonUnknown         = pb.PushSendReason_PUSH_SEND_REASON_UNSPECIFIED
)

const statusTaken = 200

// INVALID_ARGUMENT of FCM is about the token if one of these says so.
const (
	fcmTokenField   = "message.token"
	fcmTokenMessage = "The registration token is not a valid FCM registration token"
	fcmSizeMessage  = "Android message is too big"
)

// A code is shorter than a device's token, which may never become one.
var codeForm = regexp.MustCompile(`^[A-Za-z0-9_]{1,63}$`)

var apnsReasons = map[string]pb.PushSendReason{
	"BadDeviceToken": reasonInvalidToken, "DeviceTokenNotForTopic": reasonInvalidToken,
	"MissingDeviceToken": reasonInvalidToken,
	"BadCollapseId":      reasonInvalidPayload, "BadExpirationDate": reasonInvalidPayload,
	"BadMessageId": reasonInvalidPayload, "BadPriority": reasonInvalidPayload,
	"BadTopic":         reasonInvalidPayload,
	"DuplicateHeaders": reasonInvalidPayload, "InvalidPushType": reasonInvalidPayload,
	"MissingTopic": reasonInvalidPayload, "PayloadEmpty": reasonInvalidPayload,
	"BadPath":          reasonInvalidPayload,
	"MethodNotAllowed": reasonInvalidPayload,
	"PayloadTooLarge":  reasonPayloadTooLarge,
	"TopicDisallowed":  reasonCredentials, "BadCertificate": reasonCredentials,
	"BadCertificateEnvironment": reasonCredentials, "BadEnvironmentKeyIdInToken": reasonCredentials,
	"BadEnvironmentKeyInToken": reasonCredentials, "ExpiredProviderToken": reasonCredentials,
	"Forbidden": reasonCredentials, "InvalidProviderToken": reasonCredentials,
	"MissingProviderToken": reasonCredentials, "UnrelatedKeyIdInToken": reasonCredentials,
	"ExpiredToken": reasonUnregistered, "Unregistered": reasonUnregistered,
	"TooManyProviderTokenUpdates": reasonThrottled, "TooManyRequests": reasonThrottled,
	"InternalServerError": reasonProviderError, "ServiceUnavailable": reasonProviderError,
	"Shutdown":    reasonProviderError,
	"IdleTimeout": reasonNetwork,
}

var fcmReasons = map[string]pb.PushSendReason{
	"INVALID_ARGUMENT": reasonInvalidPayload, "SENDER_ID_MISMATCH": reasonInvalidToken,
	"UNREGISTERED": reasonUnregistered, "QUOTA_EXCEEDED": reasonThrottled,
	"RESOURCE_EXHAUSTED": reasonThrottled,
	"UNAVAILABLE":        reasonProviderError, "INTERNAL": reasonProviderError,
	"THIRD_PARTY_AUTH_ERROR": reasonCredentials, "UNAUTHENTICATED": reasonCredentials,
	"PERMISSION_DENIED": reasonCredentials,
}

// APNsOutcome is what an answer of APNs means: its HTTP status, 0 if none came, and the reason of
// its body. docs/sends.md has the table.
func APNsOutcome(status int, reason string) PushAnswer {
	return answerOf(status, reason, apnsReasons[reason])
}

// FCMError is what FCM's answer says of an error.
type FCMError struct {
	// Code is the errorCode of the details, or else the error's status.
	Code string
	// Field is that of the details' first violation.
	Field string
	// Message is the error's.
	Message string
}

// FCMOutcome is what an answer of FCM means: its HTTP status, 0 if none came, and its error, if
// there is one. INVALID_ARGUMENT is about the token if the field or the message says so, else about
// the payload. docs/sends.md has the table.
func FCMOutcome(status int, failure FCMError) PushAnswer {
	known := fcmReasons[failure.Code]
	if failure.Code == "INVALID_ARGUMENT" {
		switch {
		case failure.Field == fcmTokenField,
			failure.Field == "" && failure.Message == fcmTokenMessage:
			known = reasonInvalidToken
		case failure.Message == fcmSizeMessage:
			known = reasonPayloadTooLarge
		}
	}
	return answerOf(status, failure.Code, known)
}

// answerOf is the meaning of a status and of the reason that its word stands for, if that is known.
func answerOf(status int, said string, known pb.PushSendReason) PushAnswer {
	answer := PushAnswer{pb.PushSendOutcome_PUSH_SEND_OUTCOME_FAILED, known, said}
	switch {
	case status == statusTaken:
		return PushAnswer{Outcome: pb.PushSendOutcome_PUSH_SEND_OUTCOME_SENT}
	case status == 0:
		answer.Reason, answer.Code = reasonNetwork, ""
		return answer
	}
	if known == reasonUnknown {
		answer.Reason = reasonOf(status)
	}
	if !codeForm.MatchString(said) {
		answer.Code = strconv.Itoa(status)
	}
	return answer
}

// reasonOf is the reason where the answer has no word that is known, as a proxy's has none.
func reasonOf(status int) pb.PushSendReason {
	switch {
	case status == 401, status == 403:
		return reasonCredentials
	case status == 410:
		return reasonUnregistered
	case status == 413:
		return reasonPayloadTooLarge
	case status == 429:
		return reasonThrottled
	case status >= 500:
		return reasonProviderError
	}
	return reasonOther
}
