package sightline

import (
	"context"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

const method = "/sightline.v1.TrackingService/StreamEvents"

var (
	streamDescription = grpc.StreamDesc{StreamName: "StreamEvents", ServerStreams: true,
		ClientStreams: true}
	reportAccepted, _ = proto.Marshal(&pb.StreamEventsRequest{
		Options: &pb.StreamOptions{ReportAccepted: true}})
)

// run opens streams one after another until the client is closed and all is settled, or the server
// refuses it for good.
func (c *Client) run(ctx context.Context) {
	defer close(c.ended)
	for tries := 0; c.waitForEvents(ctx); {
		settledBefore := c.settledCount()
		err := c.stream(ctx)
		failure, hasSettled := failureOf(err), c.settledCount() > settledBefore
		c.mutex.Lock()
		isDone := c.outbox.isDone()
		if !failure.isRetryable && !isDone {
			c.failure = &RefusedError{failure.status}
		}
		warning := ""
		if !isDone && !c.isOver && ctx.Err() == nil {
			warning = c.failed(failure, hasSettled, c.now())
		}
		c.mutex.Unlock()
		if warning != "" {
			c.options.onWarning(warning)
		}
		if !failure.isRetryable || isDone {
			break
		}
		if tries++; hasSettled {
			tries = 0
		}
		pause(ctx, backoff(tries, failure.delay))
	}
	c.mutex.Lock()
	c.failRest()
	c.mutex.Unlock()
}

// failed keeps why a stream ended, or brings nothing; returns the warning of the first failure after a
// verdict, or of a later one where the last warning is too recent for that. An end for good is always
// warned of. An end that no event waits for is no failure, nor is one that the server means and that
// brought verdicts. Called under the mutex.
func (c *Client) failed(failure failure, hasSettled bool, now time.Duration) (warning string) {
	if c.outbox.count == 0 || (failure.status == nil && hasSettled) {
		return ""
	}
	c.stats.LastFailure = failure.told(c.target, c.options.transportCredentials != nil)
	if failure.isRetryable && (c.isWarned || now < c.nextWarning) {
		return ""
	}
	c.isWarned, c.nextWarning = true, now+warningTime
	next := "tries again"
	if !failure.isRetryable {
		next = "has ended"
	}
	return fmt.Sprintf("sightline: %s, and the client %s: %v", counted(c.outbox.count), next,
		c.stats.LastFailure)
}

func pause(ctx context.Context, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (c *Client) settledCount() (sum int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, count := range c.stats.Verdicts {
		sum += count
	}
	return sum
}

// waitForEvents is false once there is nothing left to do.
func (c *Client) waitForEvents(ctx context.Context) bool {
	for {
		c.mutex.Lock()
		count, isClosing, isOver := c.outbox.count, c.isClosing, c.isOver
		c.mutex.Unlock()
		if isOver || ctx.Err() != nil || (isClosing && count == 0) {
			return false
		}
		if count > 0 {
			return true
		}
		select {
		case <-c.work:
		case <-ctx.Done():
		}
	}
}

// stream runs one stream, on a connection of its own so that only our backoff applies; returns why it
// ended.
func (c *Client) stream(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.options.token != nil {
		token, err := c.options.token(ctx)
		if err != nil {
			return status.Errorf(codes.Unknown, "no token: %v", err)
		}
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	connection, err := grpc.Dial(c.target, c.options.dialOptions()...)
	if err != nil {
		return err
	}
	defer connection.Close()
	c.mutex.Lock()
	c.outbox.openStream()
	c.stats.Streams++
	c.mutex.Unlock()
	stream, err := connection.NewStream(ctx, &streamDescription, method)
	if err != nil {
		return err
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write(ctx, stream)
	}()
	late := make(chan struct{})
	go c.watch(ctx, func() { close(late); cancel() })
	err = c.read(stream)
	cancel()
	<-written
	select {
	case <-late:
		return status.Error(codes.DeadlineExceeded, "the server has not answered in time")
	default:
		return err
	}
}

// write sends requests as they are due, until the stream is half-closed or has ended.
func (c *Client) write(ctx context.Context, stream grpc.ClientStream) {
	for ctx.Err() == nil {
		c.mutex.Lock()
		now := c.now()
		step := c.outbox.nextStep(now)
		c.mutex.Unlock()
		switch {
		case step.halfClose:
			_ = stream.CloseSend() // The reader hears of the stream's end.
			return
		case step.request != nil:
			if stream.SendMsg(c.encoded(step.request)) != nil {
				return // The reader hears why.
			}
		case step.until == never:
			select {
			case <-c.work:
			case <-ctx.Done():
			}
		default:
			timer := time.NewTimer(step.until - now)
			select {
			case <-timer.C:
			case <-c.work:
			case <-ctx.Done():
			}
			timer.Stop()
		}
	}
}

// encoded is a request's bytes: a repeated field is its parts, one behind the other.
func (c *Client) encoded(request *request) []byte {
	size := requestOverheadBytes
	for _, ticket := range request.tickets {
		size += len(ticket.frame)
	}
	data := protowire.AppendTag(make([]byte, 0, size), 1, protowire.VarintType)
	data = protowire.AppendVarint(data, request.sequence)
	for _, ticket := range request.tickets {
		data = append(data, ticket.frame...)
	}
	if request.isFirst && c.options.reportAccepted {
		data = append(data, reportAccepted...)
	}
	return data
}

// read takes answers until the server ends the stream.
func (c *Client) read(stream grpc.ClientStream) error {
	for {
		answer := new(pb.StreamEventsResponse)
		if err := stream.RecvMsg(answer); err != nil {
			return err
		}
		c.mutex.Lock()
		// Who closed without waiting has been told what is left.
		if c.isOver {
			c.mutex.Unlock()
			return io.EOF
		}
		warning := c.took(answer, c.now())
		c.mutex.Unlock()
		c.wakeWriter()
		if warning != "" {
			c.options.onWarning(warning)
		}
	}
}

// took hands on what an answer settles; returns the warning of one that has put all of its events off.
// Called under the mutex.
func (c *Client) took(answer *pb.StreamEventsResponse, now time.Duration) (warning string) {
	retriedBefore := c.outbox.retriedEvents
	settled := c.outbox.receive(answer, now)
	c.settled(settled)
	if len(settled) == 0 && c.outbox.retriedEvents > retriedBefore {
		return c.failed(later, false, now)
	}
	return ""
}

// watch gives up a stream that makes no progress. A deadline that is set meanwhile is seen within a
// second.
func (c *Client) watch(ctx context.Context, giveUp func()) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		c.mutex.Lock()
		isLate := c.now() >= c.outbox.stream.deadline
		c.mutex.Unlock()
		if isLate {
			giveUp()
			return
		}
	}
}
