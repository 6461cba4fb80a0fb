// Package sightline sends tracking events to Sightline, and keeps each until the server has
// acknowledged it: through restarts, drains and cut links, and with a spool through the end of the
// process.
package sightline

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

const (
	// Version is the library's. The server sees it in the user agent.
	Version = "0.1.0"
	// The service takes no larger request, whatever its limits are.
	maxRequestBytes = 512 << 10
	// How long Flush and Close wait where their context has no deadline.
	closeTime = 30 * time.Second
	// How long Close waits, beyond its context, for functions of the caller that do not return.
	callerTime = time.Second
	// The shortest time between two warnings: a server that comes and goes is one piece of news.
	warningTime = time.Minute
)

var (
	// ErrFull says that the client holds as many events as it may. Nothing was taken. The error of
	// TrySend may say more: compare it by errors.Is.
	ErrFull = errors.New("sightline: no room for the event now")
	// ErrTooLarge says that the event exceeds the largest request. Nothing was taken.
	ErrTooLarge = errors.New("sightline: the event exceeds the largest request")
	// ErrClosed says that the client was closed first. Unacknowledged has what has no verdict. Errors
	// of calls may say more: compare them by errors.Is.
	ErrClosed = errors.New("sightline: the client is closed")
)

// Stats is what a client holds now, and has done since it was made.
type Stats struct {
	Pending, PendingBytes                  int
	Streams, ResentRequests, RetriedEvents int
	RefusedEvents                          int
	AdoptedEvents                          int   // Of workers that are gone.
	CutBytes                               int64 // Of a torn record, cut from the end of the spool.
	Verdicts                               map[pb.Verdict]int
	// Why the last stream ended, or none began, or that its answers are RETRY_LATER. Nil again once a
	// verdict comes.
	LastFailure error
}

// FlushReport is what became of the events that were sent before.
type FlushReport struct {
	Acknowledged, Pending int
}

func (r FlushReport) String() string {
	return fmt.Sprintf("%d acknowledged, %d pending", r.Acknowledged, r.Pending)
}

// Client sends events over one stream after another until each has its final verdict. Any number of
// goroutines may use it.
type Client struct {
	options options
	target  string
	began   time.Time
	ended   chan struct{} // Closed when no stream will be opened any more.
	called  chan struct{} // Closed when the last result was called back.
	work    chan struct{} // Wakes the writer.
	stop    context.CancelFunc
	start   sync.Once

	mutex       sync.Mutex // Guards what follows, and the spool.
	outbox      *outbox
	serial      uint64
	flushes     map[*flush]struct{}
	stats       Stats
	room        chan struct{} // Closed and made anew when there is room.
	results     [][]*Ticket   // To be called back.
	undelivered load          // Of results.
	told        *sync.Cond
	isClosing   bool
	isOver      bool
	isLossTold  bool
	isWarned    bool          // Of the failures since the last verdict.
	nextWarning time.Duration // When there may be another.
	failure     error         // The status that ended it for good.
}

// load is how many events there are, and their bytes.
type load struct {
	count, bytes int
}

func (l *load) add(tickets []*Ticket) {
	l.count += len(tickets)
	for _, ticket := range tickets {
		l.bytes += len(ticket.frame)
	}
}

func (l *load) remove(tickets []*Ticket) {
	l.count -= len(tickets)
	for _, ticket := range tickets {
		l.bytes -= len(ticket.frame)
	}
}

// flush waits for the events up to a serial.
type flush struct {
	serial uint64
	left   int
	done   chan struct{}
}

// Dial makes a client. It connects with its first event, and as often as it must.
func Dial(target string, opts ...Option) (*Client, error) {
	client := &Client{options: defaults(), target: target, began: time.Now(),
		ended: make(chan struct{}), called: make(chan struct{}), work: make(chan struct{}, 1),
		room: make(chan struct{}), flushes: map[*flush]struct{}{},
		stats: Stats{Verdicts: map[pb.Verdict]int{}}}
	for _, option := range opts {
		option(&client.options)
	}
	client.told = sync.NewCond(&client.mutex)
	o := &client.options
	if err := firstError(checkTarget(target), o.keyError); err != nil {
		return nil, err
	}
	if l := o.limits; l.Events < 1 || l.RequestBytes < 1 || l.Requests < 1 || o.maxPending < 1 {
		return nil, fmt.Errorf("sightline: a limit below 1: %+v, %d pending", l, o.maxPending)
	}
	if o.limits.RequestBytes > maxRequestBytes {
		return nil, fmt.Errorf("sightline: requests of %d bytes: the service takes %d",
			o.limits.RequestBytes, maxRequestBytes)
	}
	client.outbox = newOutbox(o.limits, o.linger, o.answerTime, rand.Float64)
	if o.spool != nil {
		take := func(at place, data []byte) {
			client.add(&Ticket{client: client, frame: frame(data), place: at})
		}
		if err := o.spool.recover(take); err != nil {
			return nil, err
		}
		client.stats.CutBytes = o.spool.cutBytes
		if o.spool.options.AdoptOrphans {
			own := client.outbox.count
			for _, err := range o.spool.adopt(take) {
				o.onWarning(fmt.Sprintf("sightline: %v", err))
			}
			client.stats.AdoptedEvents = client.outbox.count - own
		}
	}
	if client.outbox.count > 0 {
		client.begin()
	}
	return client, nil
}

func (c *Client) now() time.Duration { return time.Since(c.began) }

func (c *Client) begin() {
	c.start.Do(func() {
		ctx, stop := context.WithCancel(context.Background())
		c.mutex.Lock()
		c.stop = stop
		c.mutex.Unlock()
		if c.options.spool != nil {
			go c.options.spool.run()
		}
		go c.callBack()
		go c.run(ctx)
	})
}

// Send takes an event, and waits while the client is full; with a spool, until it is written. The
// event may be changed afterwards.
func (c *Client) Send(ctx context.Context, event *pb.TrackingEvent) (*Ticket, error) {
	return c.send(ctx, event, true)
}

// TrySend takes an event, or returns ErrFull at once: for those who rather drop it than wait.
func (c *Client) TrySend(ctx context.Context, event *pb.TrackingEvent) (*Ticket, error) {
	return c.send(ctx, event, false)
}

func (c *Client) send(ctx context.Context, event *pb.TrackingEvent, waits bool) (*Ticket, error) {
	ticket, err := c.ticket(ctx, event)
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	for !c.hasRoom(ticket) && !c.isClosing && !c.isOver {
		room := c.room
		if !waits {
			c.stats.RefusedEvents++
			err = because(ErrFull, c.stats.LastFailure)
			c.mutex.Unlock()
			return nil, err
		}
		c.mutex.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			err = ctx.Err()
		}
		c.mutex.Lock()
		if err != nil {
			err = c.pending(c.outbox.count, ", without room for another", err)
			c.mutex.Unlock()
			return nil, err
		}
	}
	err = c.take(ticket)
	c.mutex.Unlock()
	if err != nil {
		return nil, err
	}
	c.begin()
	if c.options.spool != nil {
		return ticket, c.options.spool.waitForSync()
	}
	return ticket, nil
}

func (c *Client) ticket(ctx context.Context, event *pb.TrackingEvent) (*Ticket, error) {
	size := proto.Size(event)
	data := make([]byte, 0, size+4)
	data = protowire.AppendTag(data, 2, protowire.BytesType)
	trace := ""
	if c.options.traceparent != nil && event.TraceContext == nil {
		trace = c.options.traceparent(ctx)
	}
	var field []byte
	if trace != "" {
		// A field is appended, so that the caller's event stays as it is.
		more := &pb.TrackingEvent{TraceContext: &pb.TraceContext{Traceparent: trace}}
		field, _ = proto.Marshal(more)
	}
	data = protowire.AppendVarint(data, uint64(size+len(field)))
	data, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(data, event)
	if err != nil {
		return nil, err
	}
	data = append(data, field...)
	if len(data)+requestOverheadBytes > maxRequestBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	return &Ticket{client: c, frame: data}, nil
}

// hasRoom counts results that no callback has taken too: a slow one slows the callers down.
func (c *Client) hasRoom(ticket *Ticket) bool {
	size := len(ticket.frame)
	count := c.outbox.count + c.undelivered.count
	bytes := c.outbox.bytes + c.undelivered.bytes
	return count < c.options.maxPending &&
		(bytes+size <= c.options.maxPendingBytes || count == 0) &&
		(c.options.spool == nil || c.options.spool.hasRoom(size))
}

func (c *Client) take(ticket *Ticket) (err error) {
	if c.isClosing || c.isOver {
		if c.outbox.count > 0 {
			return c.pending(c.outbox.count, c.fate(), firstError(c.failure, ErrClosed))
		}
		return c.end()
	}
	if c.options.spool != nil {
		if ticket.place, err = c.options.spool.append(ticket.data()); err != nil {
			return err
		}
	}
	c.add(ticket)
	return nil
}

func (c *Client) add(ticket *Ticket) {
	c.serial++
	ticket.serial = c.serial
	if c.outbox.add(ticket, c.now()) {
		c.wakeWriter()
	}
}

func (c *Client) wakeWriter() {
	select {
	case c.work <- struct{}{}:
	default:
	}
}

// end is why there is no verdict any more.
func (c *Client) end() error {
	if c.failure != nil {
		return c.failure
	}
	return because(ErrClosed, c.stats.LastFailure)
}

// bounded is a context that ends, also where the caller's does not.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, hasDeadline := ctx.Deadline(); hasDeadline {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.options.closeTime)
}

// Flush sends what waits without lingering, and waits for the verdicts on all that was sent before:
// until ctx ends, or for 30 s where it has no deadline. The report tells of both also then, and the
// *PendingError says why.
func (c *Client) Flush(ctx context.Context) (FlushReport, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	c.mutex.Lock()
	count := c.outbox.count
	flush := &flush{serial: c.serial, left: count, done: make(chan struct{})}
	if count > 0 {
		c.flushes[flush] = struct{}{}
	} else {
		close(flush.done)
	}
	c.outbox.hurry()
	c.wakeWriter()
	c.mutex.Unlock()
	var err error
	select {
	case <-flush.done:
	case <-ctx.Done():
		err = ctx.Err()
	case <-c.ended:
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.flushes, flush)
	if flush.left == 0 {
		return FlushReport{count, 0}, nil
	}
	fate := ""
	if c.isOver {
		fate, err = c.fate(), firstError(c.failure, ErrClosed)
	}
	return FlushReport{count - flush.left, flush.left}, c.pending(flush.left, fate, err)
}

// Unacknowledged returns the events without a final verdict, in order; also after the client's end.
func (c *Client) Unacknowledged() []*pb.TrackingEvent {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var events []*pb.TrackingEvent
	for _, ticket := range c.outbox.unsettled() {
		event := new(pb.TrackingEvent)
		if proto.Unmarshal(ticket.data(), event) == nil {
			events = append(events, event)
		}
	}
	return events
}

// Stats returns what the client holds, and has done.
func (c *Client) Stats() Stats {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	stats := c.stats
	stats.Pending, stats.PendingBytes = c.outbox.count, c.outbox.bytes
	stats.ResentRequests, stats.RetriedEvents = c.outbox.resentRequests, c.outbox.retriedEvents
	stats.Verdicts = make(map[pb.Verdict]int, len(c.stats.Verdicts))
	for verdict, count := range c.stats.Verdicts {
		stats.Verdicts[verdict] = count
	}
	return stats
}

// Close takes no more events, waits for the verdicts on all, half-closes the stream, and reads its end
// and the last results: until ctx ends, or for 30 s where it has no deadline. What has no verdict then
// stays in Unacknowledged, and in the spool; the *PendingError says how many, and why. Without a spool
// a warning says so too, as a deferred Close returns to nobody. It waits 1 s more at most for
// functions of the caller that do not return, such as that of WithToken. It may be repeated.
func (c *Client) Close(ctx context.Context) (FlushReport, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	c.mutex.Lock()
	count := c.outbox.count
	c.isClosing = true
	c.outbox.finish()
	c.wakeWriter()
	c.makeRoom()
	isRunning := c.stop != nil
	c.mutex.Unlock()
	if isRunning {
		waitFor(ctx, c.ended)
	}
	c.mutex.Lock()
	c.failRest()
	report := FlushReport{count - c.outbox.count, c.outbox.count}
	err := c.failure
	if report.Pending > 0 {
		err = c.pending(report.Pending, c.fate(), firstError(err, ctx.Err(), ErrClosed))
	}
	isTold := c.isLossTold
	c.isLossTold = true
	c.mutex.Unlock()
	callers, cancelCallers := context.WithTimeout(context.Background(), c.options.callerTime)
	defer cancelCallers()
	if report.Pending > 0 && c.options.spool == nil && !isTold {
		c.warnWithin(callers, err.Error())
	}
	if isRunning {
		c.stop()
		// Its goroutine may be in the caller's function for tokens or warnings.
		waitFor(callers, c.ended)
		waitFor(ctx, c.called)
	}
	if c.options.spool != nil {
		err = firstError(err, c.options.spool.Close())
	}
	return report, err
}

// warnWithin tells the caller's function, which may block.
func (c *Client) warnWithin(ctx context.Context, text string) {
	told := make(chan struct{})
	go func() {
		defer close(told)
		c.options.onWarning(text)
	}()
	waitFor(ctx, told)
}

func waitFor(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// settled hands verdicts on, and forgets their events. Called under the mutex.
func (c *Client) settled(tickets []*Ticket) {
	if len(tickets) == 0 {
		return
	}
	if c.options.spool != nil {
		places := make([]place, len(tickets))
		for index, ticket := range tickets {
			places[index] = ticket.place
		}
		c.options.spool.release(places...)
	}
	c.stats.LastFailure, c.isWarned = nil, false
	for _, ticket := range tickets {
		c.stats.Verdicts[ticket.verdict()]++
		ticket.finish(nil)
		for flush := range c.flushes {
			if ticket.serial <= flush.serial {
				if flush.left--; flush.left == 0 {
					close(flush.done)
				}
			}
		}
	}
	if c.options.onResult != nil {
		c.results = append(c.results, tickets)
		c.undelivered.add(tickets)
		c.told.Signal()
	}
	c.makeRoom()
}

func (c *Client) makeRoom() {
	close(c.room)
	c.room = make(chan struct{})
}

// failRest says of what is left that it has no verdict. It stays in the outbox.
func (c *Client) failRest() {
	if c.isOver {
		return
	}
	c.isOver = true
	for _, ticket := range c.outbox.unsettled() {
		ticket.finish(c.end())
	}
	c.makeRoom()
	c.told.Signal()
}

// callBack tells of results, in order, until all is told after the end.
func (c *Client) callBack() {
	defer close(c.called)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for {
		for len(c.results) == 0 && !c.isOver {
			c.told.Wait()
		}
		if len(c.results) == 0 {
			return
		}
		tickets := c.results[0]
		c.results[0] = nil
		c.results = c.results[1:]
		c.mutex.Unlock()
		for _, ticket := range tickets {
			c.options.onResult(ticket.eventResult())
		}
		c.mutex.Lock()
		c.undelivered.remove(tickets)
		c.makeRoom()
	}
}
