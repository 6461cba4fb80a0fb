package sightline

import (
	"math"
	"time"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

const (
	// The bytes of a request apart from its events: sequence (11) and options (4).
	requestOverheadBytes = 16
	// However little the server asks for, and however much.
	minRetry, maxRetry = 100 * time.Millisecond, 30 * time.Second
	// How long a half-closed stream may take to end beyond the server's grace.
	endTime = 5 * time.Second
	// A moment that does not come.
	never = time.Duration(math.MaxInt64)
)

// Limits are those of requests: the sender's own, tightened by the server's.
type Limits struct {
	Events       int // Events in a request.
	RequestBytes int // Bytes of a request. An event that is larger travels alone.
	Requests     int // Unacknowledged requests.
}

func (l Limits) tightened(told *pb.StreamLimits) Limits {
	return Limits{
		Events:       stricter(l.Events, told.GetMaxEvents()),
		RequestBytes: stricter(l.RequestBytes, told.GetMaxRequestBytes()),
		Requests:     stricter(l.Requests, told.GetMaxUnacknowledgedRequests()),
	}
}

// stricter is the smaller number; 0 says nothing.
func stricter(own int, told uint32) int {
	if told != 0 && uint64(told) < uint64(own) {
		return int(told)
	}
	return own
}

// request is events that travel together under one sequence, however often they are sent.
type request struct {
	sequence   uint64
	tickets    []*Ticket
	results    map[uint32]*pb.EventResult
	whole      *pb.EventResult
	wasWritten bool
	isFirst    bool // The first of its stream carries the options.
}

// exceeds is true of a request that was made before the limits were known: its events fit smaller ones.
func (r *request) exceeds(limits Limits) bool {
	size := requestOverheadBytes
	for _, ticket := range r.tickets {
		size += len(ticket.frame)
	}
	return len(r.tickets) > 1 && (len(r.tickets) > limits.Events || size > limits.RequestBytes)
}

// step is what a stream's writer does next: write a request, half-close, or wait.
type step struct {
	request   *request
	halfClose bool
	until     time.Duration
}

// outbox is what waits, is sent, is settled and is to be sent again. It decides, and does no I/O: no
// clock, no goroutine, no connection.
type outbox struct {
	own, limits    Limits
	linger         time.Duration
	answerTime     time.Duration
	jitter         func() float64 // From 0 to 1.
	count, bytes   int
	resentRequests int
	retriedEvents  int
	waiting        queue
	waitingBytes   int
	hurried        int // So many of the waiting do not linger.
	due, retryAt   time.Duration
	pending        []*request
	nextSequence   uint64
	isFinishing    bool
	stream         streamState
}

// streamState begins anew with each stream.
type streamState struct {
	written                 int // So many of pending, from the front.
	hasWritten, hasAnswer   bool
	isClosing, isHalfClosed bool
	deadline                time.Duration // The stream is given up unless it makes progress.
}

func newOutbox(limits Limits, linger, answerTime time.Duration, jitter func() float64) *outbox {
	return &outbox{own: limits, limits: limits, linger: linger, answerTime: answerTime,
		jitter: jitter, nextSequence: 1, stream: streamState{deadline: never}}
}

// isDone is true once the sender has finished, and every event has its verdict.
func (o *outbox) isDone() bool { return o.isFinishing && o.count == 0 }

// unsettled returns the events without a final verdict, in the order in which they will be sent.
func (o *outbox) unsettled() []*Ticket {
	var tickets []*Ticket
	for _, request := range o.pending {
		tickets = append(tickets, request.tickets...)
	}
	return append(tickets, o.waiting.all()...)
}

// add takes an event; says whether that gave the writer something to do.
func (o *outbox) add(ticket *Ticket, now time.Duration) bool {
	if o.waiting.len() == 0 {
		o.due = now + o.linger
	}
	o.waiting.push(ticket)
	o.waitingBytes += len(ticket.frame)
	o.count++
	o.bytes += len(ticket.frame)
	return o.waiting.len() == 1 || o.isFull()
}

// hurry sends what waits now without lingering.
func (o *outbox) hurry() { o.hurried = o.waiting.len() }

// finish says that no event comes any more: the stream is half-closed once every one is settled.
func (o *outbox) finish() {
	o.isFinishing = true
	o.hurry()
}

// openStream begins a stream: all that is not settled is sent again, in order, with its sequences.
func (o *outbox) openStream() {
	o.stream = streamState{deadline: never}
	o.limits = o.own
	for _, request := range o.pending {
		// It is judged again.
		request.results, request.whole = nil, nil
	}
}

// nextStep is what the stream's writer does next.
func (o *outbox) nextStep(now time.Duration) step {
	if o.stream.isClosing || o.isDone() {
		if !o.stream.isHalfClosed {
			o.stream.isHalfClosed = true
			if !o.stream.isClosing {
				o.stream.deadline = now + endTime
			}
		}
		return step{halfClose: true}
	}
	window := 1 // One request until the first answer has told the server's limits.
	if o.stream.hasAnswer {
		window = o.limits.Requests
	}
	if o.stream.written >= window {
		return step{until: never}
	}
	if o.stream.written == len(o.pending) {
		if until := o.makeRequest(now); until > now {
			return step{until: until}
		}
	}
	return step{request: o.writeNext(now)}
}

// makeRequest adds a request of what waits, or returns the time before which there is none.
func (o *outbox) makeRequest(now time.Duration) time.Duration {
	if o.waiting.len() == 0 {
		return never
	}
	if o.retryAt > now {
		return o.retryAt
	}
	if !o.isFull() && o.hurried == 0 && !o.isFinishing && o.due > now {
		return o.due
	}
	o.pending = append(o.pending, &request{sequence: o.nextSequence, tickets: o.takeBatch()})
	o.nextSequence++
	o.due = now + o.linger
	return now
}

func (o *outbox) isFull() bool {
	return o.waiting.len() >= o.limits.Events ||
		o.waitingBytes+requestOverheadBytes >= o.limits.RequestBytes
}

// takeBatch removes the events that fit a request; at least one.
func (o *outbox) takeBatch() []*Ticket {
	room, count := o.limits.RequestBytes-requestOverheadBytes, 0
	for _, ticket := range o.waiting.all() {
		size := len(ticket.frame)
		if count == o.limits.Events || (count > 0 && size > room) {
			break
		}
		room -= size
		o.waitingBytes -= size
		count++
	}
	if o.hurried -= count; o.hurried < 0 {
		o.hurried = 0
	}
	return o.waiting.pop(count)
}

func (o *outbox) writeNext(now time.Duration) *request {
	request := o.pending[o.stream.written]
	if o.stream.written == 0 {
		o.stream.deadline = now + o.answerTime
	}
	o.stream.written++
	if request.wasWritten {
		o.resentRequests++
	}
	request.wasWritten = true
	request.isFirst = !o.stream.hasWritten
	o.stream.hasWritten = true
	return request
}

// receive takes an answer; returns the events that have their final verdict by it.
func (o *outbox) receive(answer *pb.StreamEventsResponse, now time.Duration) []*Ticket {
	o.stream.hasAnswer = true
	if answer.Limits != nil {
		o.limits = o.own.tightened(answer.Limits)
	}
	isRetry := answer.RetryDelay != nil
	for _, result := range answer.Results {
		o.keep(result)
		isRetry = isRetry || result.Verdict == pb.Verdict_VERDICT_RETRY_LATER
	}
	settled, again := o.settle(answer.DurableSequence)
	o.putBack(again)
	if isRetry {
		o.delay(answer.RetryDelay.AsDuration(), now)
	}
	if answer.Closing != nil {
		o.stream.isClosing = true
		o.stream.deadline = now + answer.Closing.Grace.AsDuration() + endTime
	} else if !o.stream.isHalfClosed {
		o.stream.deadline = never
		if o.stream.written > 0 {
			o.stream.deadline = now + o.answerTime
		}
	}
	return settled
}

// keep keeps a result until the watermark passes its request. Sequences under way have no gaps:
// requests are added at one end and settled at the other.
func (o *outbox) keep(result *pb.EventResult) {
	if len(o.pending) == 0 || result.Sequence < o.pending[0].sequence ||
		result.Sequence-o.pending[0].sequence >= uint64(o.stream.written) {
		return
	}
	request := o.pending[result.Sequence-o.pending[0].sequence]
	if result.Index == nil {
		request.whole = result
		return
	}
	if request.results == nil {
		request.results = make(map[uint32]*pb.EventResult)
	}
	request.results[*result.Index] = result
}

// settle removes the requests up to the watermark that were written on this stream; the server cannot
// have settled others.
func (o *outbox) settle(watermark uint64) (settled, again []*Ticket) {
	for o.stream.written > 0 && o.pending[0].sequence <= watermark {
		request := o.pending[0]
		o.pending[0] = nil
		o.pending = o.pending[1:]
		o.stream.written--
		whole := request.whole
		if whole.GetVerdict() == pb.Verdict_VERDICT_REJECTED && request.exceeds(o.limits) {
			again = append(again, request.tickets...)
			continue
		}
		for index, ticket := range request.tickets {
			result := whole
			if own := request.results[uint32(index)]; own != nil {
				result = own
			}
			if result.GetVerdict() == pb.Verdict_VERDICT_RETRY_LATER {
				again = append(again, ticket)
				o.retriedEvents++
				continue
			}
			// None of its own: the watermark alone says that it was accepted.
			ticket.result = result
			settled = append(settled, ticket)
			o.bytes -= len(ticket.frame)
		}
	}
	o.count -= len(settled)
	return settled, again
}

// putBack puts events before all that wait.
func (o *outbox) putBack(tickets []*Ticket) {
	o.waiting.pushFront(tickets)
	for _, ticket := range tickets {
		o.waitingBytes += len(ticket.frame)
	}
	o.hurried += len(tickets)
}

// delay lets no new request go before the server wants it; up to half as long again, so that senders
// do not come back together.
func (o *outbox) delay(asked, now time.Duration) {
	if asked < minRetry {
		asked = minRetry
	}
	if asked > maxRetry {
		asked = maxRetry
	}
	if at := now + time.Duration(float64(asked)*(1+o.jitter()/2)); at > o.retryAt {
		o.retryAt = at
	}
}

// queue is first in, first out.
type queue struct {
	tickets []*Ticket
	head    int
}

func (q *queue) len() int       { return len(q.tickets) - q.head }
func (q *queue) all() []*Ticket { return q.tickets[q.head:] }

func (q *queue) push(ticket *Ticket) { q.tickets = append(q.tickets, ticket) }

func (q *queue) pushFront(tickets []*Ticket) {
	if len(tickets) > 0 {
		q.tickets = append(append([]*Ticket{}, tickets...), q.all()...)
		q.head = 0
	}
}

// pop removes the first ones. What it returns is the caller's own.
func (q *queue) pop(count int) []*Ticket {
	taken := append(make([]*Ticket, 0, count), q.tickets[q.head:q.head+count]...)
	q.head += count
	if q.head*2 >= len(q.tickets) {
		rest := copy(q.tickets, q.tickets[q.head:])
		for index := rest; index < len(q.tickets); index++ {
			q.tickets[index] = nil
		}
		q.tickets, q.head = q.tickets[:rest], 0
	}
	return taken
}
