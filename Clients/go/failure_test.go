package sightline

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

func TestADelayThatTheServerAsksForIsWaitedInFull(t *testing.T) {
	for _, row := range []struct {
		asked *durationpb.Duration
		least time.Duration
	}{
		{nil, 0}, {durationpb.New(70 * time.Second), 70 * time.Second},
		{durationpb.New(time.Hour), time.Hour}, {durationpb.New(24 * time.Hour), time.Hour},
		{&durationpb.Duration{Seconds: math.MaxInt64}, time.Hour},
		{durationpb.New(-time.Minute), 0}, {&durationpb.Duration{Seconds: math.MinInt64}, 0},
	} {
		refusal, err := status.New(codes.ResourceExhausted, "no").
			WithDetails(&errdetails.RetryInfo{RetryDelay: row.asked})
		if err != nil {
			t.Fatal(err)
		}
		delay := backoff(0, failureOf(refusal.Err()).delay)
		if delay < row.least || delay > row.least+firstBackoff {
			t.Errorf("asked for %v, it waits %v", row.asked, delay)
		}
	}
}

// UNIMPLEMENTED is what a proxy's 404 becomes. A reason of another domain is not the server's.
func TestACodeThatOnlyTheServerMeansForGoodIsTriedAgainWithoutItsReason(t *testing.T) {
	for domain, isTriedAgain := range map[string]bool{"": true, "proxy": true, reasonDomain: false} {
		for _, code := range []codes.Code{codes.Unimplemented, codes.NotFound} {
			f := newFake(t)
			f.open()
			refusal, err := status.New(code, "no").WithDetails(
				&errdetails.ErrorInfo{Reason: "UNIMPLEMENTED", Domain: domain})
			if err != nil {
				t.Fatal(err)
			}
			if domain == "" {
				refusal = status.New(code, "no")
			}
			f.refusals = []error{refusal.Err()}
			_, err = send(t, dial(t, f), named("e")).Result(brief(t, testTime))
			var refused *RefusedError
			if (err == nil) != isTriedAgain || (err != nil && !errors.As(err, &refused)) {
				t.Errorf("%s with a reason of %q: %v", code, domain, err)
			}
		}
	}
}

func TestAnEndThatTLSExplainsHasAHint(t *testing.T) {
	const speaks, speaksNone = "this port may speak TLS", "this port speaks no TLS"
	for _, row := range []struct {
		message string
		hasTLS  bool
		hint    string
	}{
		{"connection closed", false, speaks},
		{"connection closed before server preface received", false, speaks},
		{"write tcp 127.0.0.1:2->127.0.0.1:1: use of closed network connection", false, speaks},
		{"write tcp 127.0.0.1:2->127.0.0.1:1: use of closed network connection", true, ""},
		{"tls: first record does not look like a TLS handshake", true, speaksNone},
		{"connection refused", false, ""},
	} {
		told := failure{status: status.New(codes.Unavailable, row.message)}.told("host:1", row.hasTLS)
		_, hint, _ := strings.Cut(told.Error(), row.message)
		if !strings.Contains(hint, row.hint) || (hint != "") != (row.hint != "") {
			t.Errorf("%+v: %v", row, told)
		}
	}
}
