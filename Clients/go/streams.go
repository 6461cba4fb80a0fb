package sightline

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

const (
	method                   = "/sightline.v1.TrackingService/StreamEvents"
	firstBackoff, maxBackoff = 100 * time.Millisecond, 30 * time.Second
)

var (
	streamDescription = grpc.StreamDesc{StreamName: "StreamEvents", ServerStreams: true,
		ClientStreams: true}
	reportAccepted, _ = proto.Marshal(&pb.StreamEventsRequest{
		Options: &pb.StreamOptions{ReportAccepted: true}})
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
	isRetryable bool
	delay       time.Duration // What the server asks for.
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
			found.delay = time.Duration(detail.GetRetryDelay().GetSeconds())*time.Second +
				time.Duration(detail.GetRetryDelay().GetNanos())
		case *errdetails.ErrorInfo:
			reason = detail.GetReason()
		}
	}
	switch found.status.Code() {
	case codes.Unavailable, codes.Aborted, codes.Canceled, codes.DeadlineExceeded, codes.Internal,
		codes.Unknown:
		found.isRetryable = true
	case codes.ResourceExhausted:
		found.isRetryable = hasDelay
	case codes.Unauthenticated:
		// Expired credentials may have been renewed meanwhile.
		found.isRetryable = reason == "CREDENTIALS_EXPIRED"
	}
	return found
}

// run opens streams one after another until the client is closed and all is settled, or the server
// refuses it for good.
func (c *Client) run(ctx context.Context) {
	defer close(c.ended)
	for tries := 0; c.waitForEvents(ctx); {
		settledBefore := c.settledCount()
		failure := failureOf(c.stream(ctx))
		c.mutex.Lock()
		isDone := c.outbox.isDone()
		if !failure.isRetryable && !isDone {
			c.failure = &RefusedError{failure.status}
		}
		c.mutex.Unlock()
		if !failure.isRetryable || isDone {
			break
		}
		if tries++; c.settledCount() > settledBefore {
			tries = 0
		}
		pause(ctx, backoff(tries, failure.delay))
	}
	c.mutex.Lock()
	c.failRest()
	c.mutex.Unlock()
}

// backoff is what the server asks for, and then up to twice as long with each try that settles nothing.
func backoff(tries int, asked time.Duration) time.Duration {
	longest := maxBackoff
	if tries < 10 && firstBackoff<<uint(tries) < longest {
		longest = firstBackoff << uint(tries)
	}
	if asked > maxBackoff {
		asked = maxBackoff
	}
	return asked + time.Duration(rand.Float64()*float64(longest))
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
	go c.watch(ctx, cancel)
	err = c.read(stream)
	cancel()
	<-written
	return err
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
		c.settled(c.outbox.receive(answer, c.now()))
		c.mutex.Unlock()
		c.wakeWriter()
	}
}

// watch cancels a stream that makes no progress. A deadline that is set meanwhile is seen within a
// second.
func (c *Client) watch(ctx context.Context, cancel context.CancelFunc) {
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
			cancel()
			return
		}
	}
}
