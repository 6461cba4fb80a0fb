package sightline

import (
	"errors"
	"math"
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
