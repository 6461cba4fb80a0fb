package sightline

import (
	"fmt"
	"io"
	"math/rand"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// The domain of the server's reasons. A status without one comes from a library or a proxy.
	reasonDomain             = "sightline.v1"
	firstBackoff, maxBackoff = 100 * time.Millisecond, 30 * time.Second
	// The longest delay that a server is believed: its quotas ask for minutes.
	maxDelay = time.Hour
)

// RefusedError says that the server refuses this client for good. Unacknowledged has its events.
type RefusedError struct {
	Status *status.Status
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("sightline: the server refuses this client: %s: %s", e.Status.Code(),
		e.Status.Message())
}

// failure is why a stream ended before all was settled.
type failure struct {
	status      *status.Status
	isLater     bool // No end: an answer has put all of its events off.
	isRetryable bool
	delay       time.Duration // What the server asks for.
}

// later is what is told of a server that answers with RETRY_LATER alone, maybe for ever.
var later = failure{isLater: true, isRetryable: true}

// told is a failure for people, with what most often explains it.
func (f failure) told(target string, hasTLS bool) error {
	if f.isLater {
		return fmt.Errorf("%s: RETRY_LATER: the server takes no events now", target)
	}
	if f.status == nil {
		return fmt.Errorf("%s ended the stream without a verdict", target)
	}
	// What gRPC's client says in quotes about a connection.
	message := strings.TrimPrefix(f.status.Message(), "connection error: desc = ")
	message, hint := strings.Trim(message, `"`), ""
	switch {
	case !hasTLS && hasOneOf(message, "connection closed", "server preface",
		"use of closed network connection"):
		// What gRPC says of bytes that are no HTTP/2, such as TLS's alerts: it depends on whether it
		// reads or writes first.
		hint = ": this port may speak TLS, which WithTLS gives"
	case hasTLS && hasOneOf(message, "does not look like a TLS handshake"):
		hint = ": this port speaks no TLS: leave WithTLS out"
	case hasTLS && hasOneOf(message, "x509: "):
		hint = ": the server's certificate is not one that WithTLS trusts"
	}
	return fmt.Errorf("%s: %s: %s%s", target, f.status.Code(), message, hint)
}

func hasOneOf(text string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

func failureOf(err error) failure {
	if err == io.EOF {
		return failure{isRetryable: true}
	}
	found := failure{status: status.Convert(err)}
	hasDelay, reason := false, ""
	for _, detail := range found.status.Details() {
		switch detail := detail.(type) {
		case *errdetails.RetryInfo:
			hasDelay = true
			found.delay = detail.GetRetryDelay().AsDuration()
		case *errdetails.ErrorInfo:
			if detail.GetDomain() == reasonDomain {
				reason = detail.GetReason()
			}
		}
	}
	found.isRetryable = isRetryable(found.status.Code(), reason, hasDelay)
	return found
}

// isRetryable is true where another stream with the same events may end otherwise.
func isRetryable(code codes.Code, reason string, hasDelay bool) bool {
	if reason == "" {
		// Not the server's word: a proxy that does not know its server yet says 404, which gRPC
		// calls UNIMPLEMENTED.
		return true
	}
	switch code {
	case codes.Unavailable, codes.Aborted, codes.Canceled, codes.DeadlineExceeded, codes.Internal,
		codes.Unknown:
		return true
	case codes.ResourceExhausted:
		return hasDelay
	case codes.Unauthenticated:
		// Expired credentials may have been renewed meanwhile.
		return reason == "CREDENTIALS_EXPIRED"
	default:
		return false
	}
}

// backoff is what the server asks for, and then up to twice as long with each try that settles
// nothing.
func backoff(tries int, asked time.Duration) time.Duration {
	longest := maxBackoff
	if tries < 10 && firstBackoff<<uint(tries) < longest {
		longest = firstBackoff << uint(tries)
	}
	if asked < 0 {
		asked = 0
	}
	if asked > maxDelay {
		asked = maxDelay
	}
	return asked + time.Duration(rand.Float64()*float64(longest))
}
