package sightline

import (
	"context"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

// Ticket is the promise of an event's verdict.
type Ticket struct {
	client *Client
	frame  []byte // The event as a field of a request: its tag, its length, its bytes.
	serial uint64
	place  place // In the spool.

	// Guarded by the client's mutex.
	isDone bool
	result *pb.EventResult // Nil of one that was accepted without more.
	err    error
	done   chan struct{}
}

var doneAlready = func() chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}()

// frame is an event's bytes as a request has them.
func frame(data []byte) []byte {
	head := protowire.AppendTag(make([]byte, 0, len(data)+4), 2, protowire.BytesType)
	return protowire.AppendBytes(head, data)
}

// Done is closed once the event has its verdict, or will have none.
func (t *Ticket) Done() <-chan struct{} {
	t.client.mutex.Lock()
	defer t.client.mutex.Unlock()
	if t.isDone {
		return doneAlready
	}
	if t.done == nil {
		t.done = make(chan struct{})
	}
	return t.done
}

// Result waits for the verdict, and returns it with what belongs to it. The error is a *PendingError
// with ctx's, or says that the client ended before.
func (t *Ticket) Result(ctx context.Context) (*pb.EventResult, error) {
	var err error
	select {
	case <-t.Done():
	case <-ctx.Done():
		err = ctx.Err()
	}
	t.client.mutex.Lock()
	defer t.client.mutex.Unlock()
	// Both may have come: then select takes either, and what is known is not denied.
	if !t.isDone {
		return nil, t.client.pending(t.client.outbox.count, ", this one included", err)
	}
	if t.err != nil {
		return nil, t.err
	}
	return t.eventResult(), nil
}

// Verdict waits for the verdict alone. All but VERDICT_REJECTED are success, VERDICT_DUPLICATE too: it
// is what an event gets that was recorded, and sent again because its ack was lost.
func (t *Ticket) Verdict(ctx context.Context) (pb.Verdict, error) {
	result, err := t.Result(ctx)
	return result.GetVerdict(), err
}

// data is the event's bytes.
func (t *Ticket) data() []byte {
	data, _ := protowire.ConsumeBytes(t.frame[1:])
	return data
}

func (t *Ticket) verdict() pb.Verdict {
	if t.result == nil {
		return pb.Verdict_VERDICT_ACCEPTED
	}
	return t.result.Verdict
}

// eventResult is the server's result, with the event's id where the server has not named it: it names
// neither accepted events nor those of a request that it refused as a whole.
func (t *Ticket) eventResult() *pb.EventResult {
	if t.result != nil && t.result.Index != nil {
		return t.result
	}
	result := &pb.EventResult{Verdict: pb.Verdict_VERDICT_ACCEPTED}
	if t.result != nil {
		result = proto.Clone(t.result).(*pb.EventResult)
	}
	event := new(pb.TrackingEvent)
	// They are the bytes of an event: they were encoded here.
	_ = proto.Unmarshal(t.data(), event)
	result.EventId = event.EventId
	return result
}

// finish tells who waits. Called under the mutex.
func (t *Ticket) finish(err error) {
	t.isDone, t.err = true, err
	if t.done != nil {
		close(t.done)
	}
}
