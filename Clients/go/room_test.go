package sightline

import (
	"errors"
	"strings"
	"testing"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

func TestBytesThatNoCallbackHasTakenLeaveNoRoom(t *testing.T) {
	large := &pb.TrackingEvent{AppId: strings.Repeat("a", 100)}
	size := len(frame(mustMarshal(t, large)))
	f, taken := newFake(t), make(chan struct{})
	f.open()
	client := dial(t, f, WithMaxPending(100, 3*size),
		WithOnResult(func(*pb.EventResult) { <-taken }))
	for number := 0; number < 3; number++ {
		send(t, client, large)
	}
	if _, err := client.Flush(brief(t, testTime)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.TrySend(brief(t, testTime), large); !errors.Is(err, ErrFull) {
		t.Errorf("one beyond the limit: %v", err)
	}
	close(taken)
	for number := 0; number < 3; number++ {
		send(t, client, large)
	}
	if _, err := client.Close(brief(t, testTime)); err != nil {
		t.Fatal(err)
	}
	if client.undelivered != (load{}) {
		t.Errorf("all is taken, and %+v is left", client.undelivered)
	}
}

func TestAnAnswerOfMoreThan4MiBIsRead(t *testing.T) {
	f := newFake(t)
	f.open()
	f.words = strings.Repeat("a", 5<<20)
	client := dial(t, f)
	result, err := send(t, client, named("bad")).Result(brief(t, testTime))
	if err != nil || result.Violations[0].Description != f.words {
		t.Error(err)
	}
}
