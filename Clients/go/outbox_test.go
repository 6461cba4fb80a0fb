package sightline

import (
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

const (
	retryTime    = 2 * time.Second
	histories    = 400
	steps        = 400
	roundsAtMost = 5000
)

// machine is an outbox, or one with a planted bug.
type machine interface {
	box() *outbox
	add(*Ticket, time.Duration) bool
	openStream()
	nextStep(time.Duration) step
	receive(*pb.StreamEventsResponse, time.Duration) []*Ticket
	finish()
}

func (o *outbox) box() *outbox { return o }

// broken is a rule of the client that a history broke.
type broken string

func require(isTrue bool, rule string) {
	if !isTrue {
		panic(broken(rule))
	}
}

// read is a request under way to the server, and what it came to there.
type read struct {
	sequence uint64
	names    []string
	size     int
	results  []*pb.EventResult
}

// modelStream is one stream as the server sees it.
type modelStream struct {
	limits                               Limits
	requests, judged                     []read
	answers                              []*pb.StreamEventsResponse
	written                              []uint64
	lastSequence, watermark              uint64
	toldLimits, heardClosing, halfClosed bool
}

// history is a random one of an outbox against a model of the server.
type history struct {
	dice       *rand.Rand
	now        time.Duration
	machine    machine
	isFull     bool
	recorded   map[string]bool
	added      []string
	verdicts   map[string]pb.Verdict
	bySequence map[uint64][]string
	notBefore  time.Duration
	stream     *modelStream
}

func newHistory(seed int64, plant func(*outbox) machine) *history {
	dice := rand.New(rand.NewSource(seed))
	own := Limits{1 + dice.Intn(8), []int{60, 200, 1000}[dice.Intn(3)], 1 + dice.Intn(6)}
	linger := time.Duration(dice.Intn(2)) * 500 * time.Millisecond
	box := newOutbox(own, linger, 2*time.Minute, dice.Float64)
	return &history{dice: dice, machine: plant(box), recorded: map[string]bool{},
		verdicts: map[string]pb.Verdict{}, bySequence: map[uint64][]string{}}
}

// run lets anything happen for a while; then the server is well, and all must be settled.
func (h *history) run() (rule string) {
	defer func() {
		switch found := recover().(type) {
		case nil:
		case broken:
			rule = string(found)
		default:
			rule = fmt.Sprint(found)
		}
	}()
	deeds := []func(){h.add, h.write, h.write, h.take, h.take, h.answer, h.hear, h.hear, h.passTime,
		h.rarely}
	for i := 0; i < steps; i++ {
		deeds[h.dice.Intn(len(deeds))]()
	}
	h.isFull = false
	h.machine.finish()
	for i := 0; i < roundsAtMost && !h.machine.box().isDone(); i++ {
		if h.stream == nil || h.stream.heardClosing {
			h.open()
		}
		for _, deed := range []func(){h.write, h.take, h.answer, h.hear, h.passTime} {
			deed()
		}
	}
	require(len(h.verdicts) == len(h.added), "every event gets a verdict")
	require(h.machine.box().count == 0 && h.machine.box().bytes == 0, "nothing is left")
	return ""
}

func (h *history) add() {
	name := fmt.Sprintf("%c%d", "gggi"[h.dice.Intn(4)], len(h.added))
	h.added = append(h.added, name)
	data, err := proto.Marshal(&pb.TrackingEvent{EventId: name,
		AppId: strings.Repeat("a", h.dice.Intn(81))})
	require(err == nil, "an event can be encoded")
	h.machine.add(&Ticket{frame: frame(data)}, h.now)
}

func (h *history) open() {
	h.stream = &modelStream{limits: Limits{1 + h.dice.Intn(10), []int{0, 80, 500}[h.dice.Intn(3)],
		1 + h.dice.Intn(8)}}
	h.machine.openStream()
	if h.dice.Intn(2) == 0 {
		h.stream.answers = append(h.stream.answers, h.message())
	}
}

func (h *history) rarely() {
	switch h.dice.Intn(12) {
	case 0:
		h.stream = nil // A cut: what is under way is lost, in both directions.
	case 1:
		h.isFull = !h.isFull
	case 2:
		if h.stream != nil {
			message := h.message()
			message.Closing = &pb.StreamClosing{Grace: durationpb.New(time.Second)}
			h.stream.answers = append(h.stream.answers, message)
		}
	case 3:
		h.machine.box().hurry()
	}
}

func (h *history) write() {
	if h.stream == nil {
		h.open()
		return
	}
	if h.stream.halfClosed {
		return
	}
	box := h.machine.box()
	step := h.machine.nextStep(h.now)
	switch {
	case step.halfClose:
		require(h.stream.heardClosing || box.isDone(), "no half-close before the end")
		h.stream.halfClosed = true
	case step.request != nil:
		h.check(step.request)
	case step.until == never && box.count > 0 && !h.stream.heardClosing:
		require(len(h.stream.written) > 0, "with nothing under way, something is to be sent")
	}
}

func (h *history) check(request *request) {
	require(!h.stream.heardClosing, "nothing is sent after closing")
	names, size := []string{}, requestOverheadBytes
	for _, ticket := range request.tickets {
		names = append(names, eventID(ticket))
		size += len(ticket.frame)
		_, isSettled := h.verdicts[names[len(names)-1]]
		require(!isSettled, "what is settled is not sent")
	}
	own := h.machine.box().own
	if known, is := h.bySequence[request.sequence]; is {
		require(reflect.DeepEqual(known, names), "a sequence stands for the same events always")
	} else {
		require(h.now >= h.notBefore, "a retry waits as long as the server asks")
		require(len(names) <= own.Events, "no more events than a request may have")
	}
	h.bySequence[request.sequence] = names
	h.stream.written = append(h.stream.written, request.sequence)
	most := 1
	if h.stream.toldLimits {
		most = stricter(own.Requests, uint32(h.stream.limits.Requests))
	}
	require(len(h.stream.written) <= most, "no more requests under way than allowed")
	h.stream.requests = append(h.stream.requests, read{request.sequence, names, size, nil})
}

// take has the server read a request.
func (h *history) take() {
	if h.stream == nil || len(h.stream.requests) == 0 {
		return
	}
	request := h.stream.requests[0]
	h.stream.requests = h.stream.requests[1:]
	require(request.sequence > h.stream.lastSequence, "sequences rise")
	h.stream.lastSequence = request.sequence
	limits := h.stream.limits
	whole := &pb.EventResult{Sequence: request.sequence}
	switch {
	case len(request.names) > limits.Events || (len(request.names) > 1 && limits.RequestBytes > 0 &&
		request.size > limits.RequestBytes):
		whole.Verdict = pb.Verdict_VERDICT_REJECTED
	case h.isFull:
		whole.Verdict = pb.Verdict_VERDICT_RETRY_LATER
	default:
		for index, name := range request.names {
			if verdict := h.judge(name); verdict != pb.Verdict_VERDICT_ACCEPTED {
				request.results = append(request.results, &pb.EventResult{Verdict: verdict,
					Sequence: request.sequence, Index: proto.Uint32(uint32(index)), EventId: name})
			}
		}
	}
	if whole.Verdict != 0 {
		request.results = append(request.results, whole)
	}
	h.stream.judged = append(h.stream.judged, request)
}

func (h *history) judge(name string) pb.Verdict {
	switch {
	case h.recorded[name]:
		return pb.Verdict_VERDICT_DUPLICATE
	case name[0] == 'i':
		return pb.Verdict_VERDICT_REJECTED
	case h.dice.Intn(20) == 0:
		return pb.Verdict_VERDICT_RETRY_LATER
	}
	h.recorded[name] = true
	return pb.Verdict_VERDICT_ACCEPTED
}

func (h *history) message() *pb.StreamEventsResponse {
	message := &pb.StreamEventsResponse{DurableSequence: h.stream.watermark}
	if !h.stream.toldLimits {
		message.Limits = &pb.StreamLimits{MaxEvents: uint32(h.stream.limits.Events),
			MaxRequestBytes:           uint32(h.stream.limits.RequestBytes),
			MaxUnacknowledgedRequests: uint32(h.stream.limits.Requests)}
	}
	return message
}

// answer has the server tell of some of what it has judged.
func (h *history) answer() {
	if h.stream == nil || len(h.stream.judged) == 0 {
		return
	}
	count := 1 + h.dice.Intn(len(h.stream.judged))
	told := h.stream.judged[:count]
	h.stream.judged = h.stream.judged[count:]
	h.stream.watermark = told[count-1].sequence
	message := h.message()
	for _, request := range told {
		message.Results = append(message.Results, request.results...)
	}
	for _, result := range message.Results {
		if result.Verdict == pb.Verdict_VERDICT_RETRY_LATER {
			message.RetryDelay = durationpb.New(retryTime)
		}
	}
	h.stream.answers = append(h.stream.answers, message)
}

// hear has the client read an answer; a closing server ends the stream after the last.
func (h *history) hear() {
	stream := h.stream
	if stream == nil {
		return
	}
	if len(stream.answers) == 0 {
		if stream.heardClosing && stream.halfClosed && len(stream.requests)+len(stream.judged) == 0 {
			h.stream = nil
		}
		return
	}
	message := stream.answers[0]
	stream.answers = stream.answers[1:]
	stream.toldLimits = true
	stream.heardClosing = stream.heardClosing || message.Closing != nil
	if message.RetryDelay != nil {
		h.notBefore = h.now + retryTime
	}
	var written []uint64
	for _, sequence := range stream.written {
		if sequence > message.DurableSequence {
			written = append(written, sequence)
		}
	}
	stream.written = written
	for _, ticket := range h.machine.receive(message, h.now) {
		h.settle(ticket)
	}
}

func (h *history) settle(ticket *Ticket) {
	name := eventID(ticket)
	_, isSettled := h.verdicts[name]
	require(!isSettled, "an event is settled once")
	h.verdicts[name] = ticket.verdict()
	if ticket.verdict() == pb.Verdict_VERDICT_REJECTED {
		require(name[0] == 'i', "only what was rejected counts as rejected")
	} else {
		require(h.recorded[name], "what counts as accepted is durable")
	}
}

func (h *history) passTime() {
	h.now += []time.Duration{10, 300, 1000}[h.dice.Intn(3)] * time.Millisecond
}

func eventID(ticket *Ticket) string {
	event := new(pb.TrackingEvent)
	require(proto.Unmarshal(ticket.data(), event) == nil, "a ticket has an event")
	return event.EventId
}

// SEED=n HISTORIES=1 repeats one.
func TestEveryEventGetsItsVerdictWhateverHappens(t *testing.T) {
	first, count := time.Now().UnixNano(), int64(histories)
	if text := os.Getenv("SEED"); text != "" {
		first, _ = strconv.ParseInt(text, 10, 64)
	}
	if text := os.Getenv("HISTORIES"); text != "" {
		count, _ = strconv.ParseInt(text, 10, 64)
	}
	for seed := first; seed < first+count; seed++ {
		if rule := newHistory(seed, func(o *outbox) machine { return o }).run(); rule != "" {
			t.Fatalf("seed %d: %s", seed, rule)
		}
	}
}

type forgetsOnReconnect struct{ *outbox }

func (m forgetsOnReconnect) openStream() {
	m.outbox.openStream()
	m.pending = nil
}

type renumbers struct{ *outbox }

func (m renumbers) openStream() {
	m.outbox.openStream()
	for _, request := range m.pending {
		request.sequence = m.nextSequence
		m.nextSequence++
	}
}

type startsAgainAtOne struct{ *outbox }

func (m startsAgainAtOne) openStream() {
	m.outbox.openStream()
	m.nextSequence = 1
}

type ignoresClosing struct{ *outbox }

func (m ignoresClosing) nextStep(now time.Duration) step {
	m.stream.isClosing = false
	return m.outbox.nextStep(now)
}

type trustsWhatIsWritten struct{ *outbox }

func (m trustsWhatIsWritten) receive(answer *pb.StreamEventsResponse, now time.Duration) []*Ticket {
	answer.DurableSequence = 1 << 62
	return m.outbox.receive(answer, now)
}

type takesRetryLaterAsDone struct{ *outbox }

func (m takesRetryLaterAsDone) receive(answer *pb.StreamEventsResponse, now time.Duration) []*Ticket {
	for _, result := range answer.Results {
		if result.Verdict == pb.Verdict_VERDICT_RETRY_LATER {
			result.Verdict = pb.Verdict_VERDICT_ACCEPTED
		}
	}
	return m.outbox.receive(answer, now)
}

type retriesAtOnce struct{ *outbox }

func (m retriesAtOnce) nextStep(now time.Duration) step {
	m.retryAt = 0
	return m.outbox.nextStep(now)
}

type ignoresTheWindow struct{ *outbox }

func (m ignoresTheWindow) nextStep(now time.Duration) step {
	m.limits.Requests = 1 << 20
	return m.outbox.nextStep(now)
}

type halfClosesWhenIdle struct{ *outbox }

func (m halfClosesWhenIdle) nextStep(now time.Duration) step {
	if m.count == 0 {
		return step{halfClose: true}
	}
	return m.outbox.nextStep(now)
}

type rejectsWhatIsTooLarge struct{ *outbox }

func (m rejectsWhatIsTooLarge) receive(answer *pb.StreamEventsResponse, now time.Duration) []*Ticket {
	answer.Limits = nil
	return m.outbox.receive(answer, now)
}

type lingersForEver struct{ *outbox }

func (m lingersForEver) add(ticket *Ticket, now time.Duration) bool {
	return m.outbox.add(ticket, now+1e6*time.Hour)
}
func (m lingersForEver) finish() {}

func TestAPlantedBugIsFound(t *testing.T) {
	for name, plant := range map[string]func(*outbox) machine{
		"forgets on reconnect":      func(o *outbox) machine { return forgetsOnReconnect{o} },
		"renumbers":                 func(o *outbox) machine { return renumbers{o} },
		"starts again at one":       func(o *outbox) machine { return startsAgainAtOne{o} },
		"ignores closing":           func(o *outbox) machine { return ignoresClosing{o} },
		"trusts what is written":    func(o *outbox) machine { return trustsWhatIsWritten{o} },
		"takes RETRY_LATER as done": func(o *outbox) machine { return takesRetryLaterAsDone{o} },
		"retries at once":           func(o *outbox) machine { return retriesAtOnce{o} },
		"ignores the window":        func(o *outbox) machine { return ignoresTheWindow{o} },
		"half-closes when idle":     func(o *outbox) machine { return halfClosesWhenIdle{o} },
		"rejects what is too large": func(o *outbox) machine { return rejectsWhatIsTooLarge{o} },
		"lingers for ever":          func(o *outbox) machine { return lingersForEver{o} },
	} {
		isFound := false
		for seed := int64(0); seed < 200 && !isFound; seed++ {
			isFound = newHistory(seed, plant).run() != ""
		}
		if !isFound {
			t.Errorf("200 histories did not find what %s", name)
		}
	}
}
