package sightline

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

// failing is a client of a server that is away, once it knows why.
func failing(t *testing.T, options ...Option) *Client {
	t.Helper()
	failed := make(chan string, 100)
	client, err := Dial("127.0.0.1:1", append(options,
		WithOnWarning(func(text string) { failed <- text }))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = client.Close(brief(t, time.Millisecond)) })
	send(t, client, named("e"))
	<-failed
	return client
}

// expired is a context that has ended.
func expired() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestEachErrorOfAServerThatIsAwaySaysWhy(t *testing.T) {
	const reason = "connection refused"
	expired := expired()
	client := failing(t, WithMaxPending(1, 1))
	ticket := client.outbox.unsettled()[0]
	call := func(run func() error) func(error) {
		return func(want error) {
			t.Helper()
			if err := run(); !errors.Is(err, want) || !strings.Contains(err.Error(), reason) {
				t.Errorf("%v: %v", want, err)
			}
		}
	}
	sent := call(func() error { _, err := client.Send(expired, named("more")); return err })
	tried := call(func() error { _, err := client.TrySend(expired, named("more")); return err })
	judged := call(func() error { _, err := ticket.Result(expired); return err })
	flushed := call(func() error { _, err := client.Flush(expired); return err })
	closed := call(func() error { _, err := client.Close(expired); return err })
	sent(context.Canceled)
	tried(ErrFull)
	judged(context.Canceled)
	flushed(context.Canceled)
	if err := client.Stats().LastFailure; err == nil || !strings.Contains(err.Error(), reason) {
		t.Errorf("stats: %v", err)
	}
	closed(context.Canceled)
	sent(ErrClosed)
	flushed(ErrClosed)
	_, err := ticket.Result(context.Background())
	if !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), reason) {
		t.Errorf("the ticket of a closed client: %v", err)
	}
}

func TestAVerdictThatIsThereIsToldWhateverTheContext(t *testing.T) {
	f := newFake(t)
	f.open()
	ticket := send(t, dial(t, f), named("known"))
	if _, err := ticket.Result(brief(t, testTime)); err != nil {
		t.Fatal(err)
	}
	// select takes either of two that are ready, at random.
	for number, over := 0, expired(); number < 100; number++ {
		if verdict, err := ticket.Verdict(over); verdict != pb.Verdict_VERDICT_DUPLICATE {
			t.Fatal(verdict, err)
		}
	}
}

func TestFlushAndCloseEndWhereTheirContextHasNoDeadline(t *testing.T) {
	if defaults().closeTime != closeTime {
		t.Fatal(defaults().closeTime)
	}
	client := failing(t, func(o *options) { o.closeTime = 10 * time.Millisecond })
	for _, end := range []func(context.Context) (FlushReport, error){client.Flush, client.Close} {
		report, err := end(context.Background())
		var pending *PendingError
		if !errors.As(err, &pending) || pending.Pending != 1 || report.Pending != 1 ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Error(report, err)
		}
	}
}

func TestCloseEndsAlsoWhereAFunctionOfTheCallerDoesNot(t *testing.T) {
	if defaults().callerTime != callerTime {
		t.Fatal(defaults().callerTime)
	}
	blocked, release := make(chan string, 100), make(chan struct{})
	defer close(release)
	block := func(what string) {
		blocked <- what
		<-release
	}
	token := WithToken(func(context.Context) (string, error) {
		block("token")
		return "key", nil
	})
	warning := WithOnWarning(func(string) { block("warning") })
	for _, options := range [][]Option{{token, WithOnWarning(func(string) {})}, {warning}} {
		client, err := Dial("127.0.0.1:1",
			append(options, func(o *settings) { o.callerTime = 10 * time.Millisecond })...)
		if err != nil {
			t.Fatal(err)
		}
		send(t, client, named("e"))
		where := <-blocked
		ended := make(chan error)
		go func() {
			_, err := client.Close(expired())
			ended <- err
		}()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("blocked in the %s: %v", where, err)
			}
		case <-time.After(testTime):
			t.Fatalf("blocked in the %s, Close does not end", where)
		}
	}
}

func TestAServerThatNeverAnswersIsNamed(t *testing.T) {
	f := newFake(t)
	warnings := make(chan string, 100)
	client := dial(t, f, WithAnswerTimeout(time.Millisecond),
		WithOnWarning(func(text string) { warnings <- text }))
	send(t, client, named("e"))
	want := f.target + ": DeadlineExceeded: the server has not answered in time"
	if warning := <-warnings; !strings.Contains(warning, want) {
		t.Error(warning)
	}
	before := &Client{target: "host:1", outbox: &outbox{}, stop: func() {}}
	if err := before.lastFailure(); err == nil || err.Error() != "host:1 has not answered yet" {
		t.Error(err)
	}
}

func TestAServerThatPutsAllEventsOffIsNamed(t *testing.T) {
	f := newFake(t)
	f.open()
	f.later = true
	warnings := make(chan string, 100)
	client := dial(t, f, WithOnWarning(func(text string) { warnings <- text }))
	ticket := send(t, client, named("e"))
	reason := f.target + ": RETRY_LATER: the server takes no events now"
	want := "sightline: 1 event has no verdict, and the client tries again: " + reason
	if warning := <-warnings; warning != want {
		t.Error(warning)
	}
	if _, err := ticket.Result(expired()); err == nil || !strings.Contains(err.Error(), reason) {
		t.Error(err)
	}
	if _, err := client.Flush(expired()); err == nil || !strings.Contains(err.Error(), reason) {
		t.Error(err)
	}
	f.mutex.Lock()
	f.later = false
	f.mutex.Unlock()
	if _, err := ticket.Result(brief(t, testTime)); err != nil {
		t.Fatal(err)
	}
	if failure := client.Stats().LastFailure; failure != nil || len(warnings) != 0 {
		t.Errorf("after a verdict: %v, and %d more warnings", failure, len(warnings))
	}
}

func TestAnOutageIsWarnedOfOnce(t *testing.T) {
	f := newFake(t)
	f.open()
	warnings := make(chan string, 100)
	client := dial(t, f, WithOnWarning(func(text string) { warnings <- text }))
	f.refuse(status.Error(codes.Unavailable, "later"), status.Error(codes.Unavailable, "sooner"))
	if _, err := send(t, client, named("last")).Result(brief(t, testTime)); err != nil {
		t.Fatal(err)
	}
	if failure := client.Stats().LastFailure; failure != nil {
		t.Errorf("after a verdict: %v", failure)
	}
	want := "sightline: 1 event has no verdict, and the client tries again: " + f.target +
		": Unavailable: sooner"
	if warning := <-warnings; warning != want || len(warnings) != 0 {
		t.Errorf("%s, and %d more", warning, len(warnings))
	}
	if _, err := client.Close(brief(t, testTime)); err != nil || len(warnings) != 0 {
		t.Error(err, len(warnings))
	}
}

func TestAServerThatComesAndGoesIsWarnedOfOnceAMinute(t *testing.T) {
	broken := failure{status: status.New(codes.Unavailable, "gone"), isRetryable: true}
	refused := failure{status: status.New(codes.Unauthenticated, "who are you")}
	client, err := Dial("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	for number, row := range []struct {
		at         time.Duration
		hasSettled bool // Before it.
		failure    failure
		isTold     bool
	}{
		{0, false, broken, true}, {time.Second, true, broken, false},
		{warningTime - 1, true, broken, false}, {warningTime, false, broken, true},
		{3 * warningTime, false, broken, false}, // The same outage.
		{3 * warningTime, true, broken, true}, {3*warningTime + 1, false, refused, true},
	} {
		client.mutex.Lock()
		if row.hasSettled {
			client.settled([]*Ticket{{client: client}})
		}
		client.outbox.count = 1
		warning := client.failed(row.failure, false, row.at)
		isKept := client.stats.LastFailure != nil
		client.mutex.Unlock()
		if (warning != "") != row.isTold || !isKept {
			t.Errorf("%d: %q, %v", number, warning, isKept)
		}
	}
}

func TestAnEndThatNoEventWaitsForIsNoFailure(t *testing.T) {
	ended := failure{isRetryable: true}
	broken := failure{status: status.New(codes.Unavailable, "gone"), isRetryable: true}
	for _, row := range []struct {
		failure    failure
		count      int
		hasSettled bool
		isTold     bool
	}{
		{ended, 0, false, false}, {broken, 0, false, false}, {ended, 1, true, false},
		{ended, 1, false, true}, {broken, 1, true, true}, {broken, 1, false, true},
	} {
		client := &Client{outbox: &outbox{count: row.count}}
		warning := client.failed(row.failure, row.hasSettled, 0)
		if (warning != "") != row.isTold || (client.stats.LastFailure != nil) != row.isTold {
			t.Errorf("%+v: %q, %v", row, warning, client.stats.LastFailure)
		}
	}
}
