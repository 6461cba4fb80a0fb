package sightline

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/runtime/protoiface"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

const testTime = 20 * time.Second

// fake accepts events while it is open; rejects those named bad, and knows those named known. One named
// last ends its stream.
type fake struct {
	mutex    sync.Mutex
	gate     chan struct{}
	headers  []metadata.MD
	events   []*pb.TrackingEvent
	requests []*pb.StreamEventsRequest
	refusals []error
	limits   *pb.StreamLimits
	later    bool   // Whether it takes nothing.
	words    string // Said of each event that is rejected or known.
	halves   chan struct{}
	target   string
}

func newFake(t *testing.T, options ...grpc.ServerOption) *fake {
	t.Helper()
	f := &fake{gate: make(chan struct{}), halves: make(chan struct{}, 100)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	server.RegisterService(&grpc.ServiceDesc{ServiceName: "sightline.v1.TrackingService",
		HandlerType: (*interface{})(nil), Streams: []grpc.StreamDesc{{StreamName: "StreamEvents",
			ServerStreams: true, ClientStreams: true,
			Handler: func(_ interface{}, stream grpc.ServerStream) error { return f.serve(stream) }}},
	}, f)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	f.target = listener.Addr().String()
	return f
}

// refuse ends the next streams, the last one's error first.
func (f *fake) refuse(refusals ...error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.refusals = refusals
}

func (f *fake) open() { close(f.gate) }

func (f *fake) serve(stream grpc.ServerStream) error {
	f.mutex.Lock()
	header, _ := metadata.FromIncomingContext(stream.Context())
	f.headers = append(f.headers, header)
	var refusal error
	if count := len(f.refusals); count > 0 {
		refusal, f.refusals = f.refusals[count-1], f.refusals[:count-1]
	}
	f.mutex.Unlock()
	if refusal != nil {
		return refusal
	}
	if err := stream.SendMsg(&pb.StreamEventsResponse{Limits: f.limits}); err != nil {
		return err
	}
	for {
		request := new(pb.StreamEventsRequest)
		if stream.RecvMsg(request) != nil {
			f.halves <- struct{}{}
			return nil
		}
		select {
		case <-f.gate:
		case <-stream.Context().Done():
			return nil
		}
		err := stream.SendMsg(f.judge(request))
		if events := request.Events; err != nil || events[len(events)-1].EventId == "last" {
			return err
		}
	}
}

func (f *fake) judge(request *pb.StreamEventsRequest) *pb.StreamEventsResponse {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.requests = append(f.requests, request)
	f.events = append(f.events, request.Events...)
	answer := &pb.StreamEventsResponse{DurableSequence: request.Sequence}
	for index, event := range request.Events {
		verdict := map[string]pb.Verdict{"bad": pb.Verdict_VERDICT_REJECTED,
			"known": pb.Verdict_VERDICT_DUPLICATE}[event.EventId]
		if f.later {
			verdict = pb.Verdict_VERDICT_RETRY_LATER
		}
		if verdict != 0 {
			answer.Results = append(answer.Results, &pb.EventResult{Sequence: request.Sequence,
				Index: proto.Uint32(uint32(index)), EventId: event.EventId, Verdict: verdict,
				Violations: []*pb.FieldViolation{{Description: f.words}}})
		}
	}
	return answer
}

func dial(t *testing.T, f *fake, options ...Option) *Client {
	t.Helper()
	client, err := Dial(f.target, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = client.Close(brief(t, time.Millisecond)) })
	return client
}

func brief(t *testing.T, timeout time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(cancel)
	return ctx
}

func send(t *testing.T, client *Client, event *pb.TrackingEvent) *Ticket {
	t.Helper()
	ticket, err := client.Send(brief(t, testTime), event)
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

func named(name string) *pb.TrackingEvent { return &pb.TrackingEvent{EventId: name} }

func TestATicketHasTheVerdictAndADuplicateIsASuccess(t *testing.T) {
	f := newFake(t)
	f.open()
	var seen []string
	client := dial(t, f, WithOnResult(func(result *pb.EventResult) {
		seen = append(seen, result.EventId)
	}))
	for name, want := range map[string]pb.Verdict{"new": pb.Verdict_VERDICT_ACCEPTED,
		"known": pb.Verdict_VERDICT_DUPLICATE, "bad": pb.Verdict_VERDICT_REJECTED} {
		result, err := send(t, client, named(name)).Result(brief(t, testTime))
		if err != nil || result.Verdict != want || result.EventId != name {
			t.Errorf("%s: %v %v", name, result, err)
		}
	}
	var names []string
	for number := 0; number < 300; number++ {
		names = append(names, fmt.Sprint(number))
		send(t, client, named(fmt.Sprint(number)))
	}
	if report, err := client.Close(brief(t, testTime)); err != nil || report.Pending != 0 {
		t.Fatal(report, err)
	}
	if !reflect.DeepEqual(seen[3:], names) {
		t.Errorf("out of order, or not all: %v", seen)
	}
	if _, err := client.Send(brief(t, testTime), named("late")); !errors.Is(err, ErrClosed) {
		t.Errorf("sent after the end: %v", err)
	}
}

func TestAtItsLimitAClientHasRoomForNoMore(t *testing.T) {
	large := &pb.TrackingEvent{AppId: strings.Repeat("a", 100)}
	size := len(frame(mustMarshal(t, large)))
	for _, option := range []Option{WithMaxPending(3, 1<<20), WithMaxPending(100, 3*size)} {
		f := newFake(t)
		client := dial(t, f, option)
		for number := 0; number < 3; number++ {
			send(t, client, large)
		}
		if _, err := client.TrySend(brief(t, testTime), large); !errors.Is(err, ErrFull) {
			t.Errorf("one beyond the limit: %v", err)
		}
		_, err := client.Send(brief(t, 10*time.Millisecond), large)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one beyond the limit, waiting: %v", err)
		}
		f.open()
		send(t, client, large)
	}
}

func mustMarshal(t *testing.T, message proto.Message) []byte {
	t.Helper()
	data, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAnEventThatFitsNoRequestIsRefusedBeforeItIsTaken(t *testing.T) {
	f := newFake(t)
	f.open()
	client := dial(t, f)
	event := &pb.TrackingEvent{}
	for size := maxRequestBytes; len(frame(mustMarshal(t, event)))+requestOverheadBytes !=
		maxRequestBytes; size-- {
		event.AppId = strings.Repeat("a", size)
	}
	if _, err := send(t, client, event).Result(brief(t, testTime)); err != nil {
		t.Error(err)
	}
	event.AppId += "a"
	if _, err := client.Send(brief(t, testTime), event); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one byte beyond: %v", err)
	}
}

func TestFlushTellsWhatIsLeftAndCloseKeepsIt(t *testing.T) {
	f := newFake(t)
	client := dial(t, f, WithLinger(time.Minute))
	ticket := send(t, client, named("left"))
	report, err := client.Flush(brief(t, 50*time.Millisecond))
	if report != (FlushReport{0, 1}) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(report, err)
	}
	for again := 0; again < 2; again++ {
		if report, err := client.Close(brief(t, 50*time.Millisecond)); report.Pending != 1 || err == nil {
			t.Fatal(report, err)
		}
	}
	if left := client.Unacknowledged(); len(left) != 1 || left[0].EventId != "left" {
		t.Fatal(left)
	}
	if _, err := ticket.Result(brief(t, testTime)); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

func TestLingerEndsWithFlushAndCloseHalfCloses(t *testing.T) {
	f := newFake(t)
	f.open()
	client := dial(t, f, WithLinger(time.Minute))
	for _, end := range []func(context.Context) (FlushReport, error){client.Flush, client.Close} {
		send(t, client, named("e"))
		if report, err := end(brief(t, testTime)); err != nil || report != (FlushReport{1, 0}) {
			t.Fatal(report, err)
		}
	}
	<-f.halves
}

func TestBatchesAreAsLargeAsTheStrictestLimit(t *testing.T) {
	f := newFake(t)
	f.open()
	f.limits = &pb.StreamLimits{MaxEvents: 7}
	client := dial(t, f, WithBatch(Limits{10, 64 << 10, 16}), WithLinger(time.Minute))
	for number := 0; number < 30; number++ {
		send(t, client, named("e"))
	}
	if _, err := client.Flush(brief(t, testTime)); err != nil {
		t.Fatal(err)
	}
	var counts []int
	for _, request := range f.requests {
		counts = append(counts, len(request.Events))
	}
	// The first goes before the limits are known, unless they are told at once.
	early, late := []int{10, 7, 7, 6}, []int{7, 7, 7, 7, 2}
	if !reflect.DeepEqual(counts, early) && !reflect.DeepEqual(counts, late) {
		t.Fatal(counts)
	}
}

func TestARefusedClientEndsAndKeepsItsEvents(t *testing.T) {
	f := newFake(t)
	refusal, err := status.New(codes.Unauthenticated, "who are you").WithDetails(
		&errdetails.ErrorInfo{Reason: "CREDENTIALS_INVALID", Domain: "sightline.v1"})
	if err != nil {
		t.Fatal(err)
	}
	f.refusals = []error{refusal.Err()}
	client := dial(t, f)
	_, err = send(t, client, named("kept")).Result(brief(t, testTime))
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Status.Code() != codes.Unauthenticated {
		t.Fatal(err)
	}
	if _, err := client.Flush(brief(t, testTime)); !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if left := client.Unacknowledged(); len(left) != 1 {
		t.Fatal(left)
	}
}

func TestAServerThatIsAwayIsTriedAgain(t *testing.T) {
	f := newFake(t)
	f.open()
	away := status.Error(codes.Unavailable, "later")
	f.refusals = []error{away, away}
	client := dial(t, f)
	if _, err := send(t, client, named("e")).Result(brief(t, testTime)); err != nil {
		t.Fatal(err)
	}
	if streams := client.Stats().Streams; streams != 3 {
		t.Fatal(streams)
	}
}

func TestTheCredentialAndTheTraceGoAlong(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	f := newFake(t)
	f.open()
	client := dial(t, f, WithAPIKey("key"), WithTraceparent(func(context.Context) string { return parent }))
	own := &pb.TrackingEvent{TraceContext: &pb.TraceContext{Traceparent: "own"}}
	send(t, client, named("of the call"))
	send(t, client, own)
	if _, err := client.Flush(brief(t, testTime)); err != nil {
		t.Fatal(err)
	}
	if found := f.headers[0].Get("authorization"); !reflect.DeepEqual(found, []string{"Bearer key"}) {
		t.Error(found)
	}
	agent := f.headers[0].Get("user-agent")
	if len(agent) != 1 || !strings.HasPrefix(agent[0], "sightline-go/"+Version+" ") {
		t.Error(agent)
	}
	first, second := f.events[0].TraceContext.GetTraceparent(), f.events[1].TraceContext.GetTraceparent()
	if first != parent || second != "own" {
		t.Error(first, second)
	}
}

func TestWhatAClientHadSpooledAnotherOneSends(t *testing.T) {
	f, folder := newFake(t), t.TempDir()
	first := dial(t, f, WithSpool(open(t, folder, SpoolOptions{})))
	for number := 0; number < 10; number++ {
		send(t, first, named(fmt.Sprint(number)))
	}
	if report, _ := first.Close(brief(t, 50*time.Millisecond)); report.Pending != 10 {
		t.Fatal(report)
	}
	f.open()
	second := dial(t, f, WithSpool(open(t, folder, SpoolOptions{SyncSends: true})))
	send(t, second, named("10"))
	if report, err := second.Close(brief(t, testTime)); err != nil || report.Pending != 0 {
		t.Fatal(report, err)
	}
	for number, event := range f.events[len(f.events)-11:] {
		if event.EventId != fmt.Sprint(number) {
			t.Fatal(f.events)
		}
	}
	if files := segmentFiles(t, folder); len(files) != 0 {
		t.Fatal(files)
	}
}

// As docs/errors.md says of each reason.
func TestAStatusIsTriedAgainOrEndsTheClient(t *testing.T) {
	retry := &errdetails.RetryInfo{RetryDelay: durationpb.New(50 * time.Millisecond)}
	expired := &errdetails.ErrorInfo{Reason: "CREDENTIALS_EXPIRED", Domain: "sightline.v1"}
	ours := &errdetails.ErrorInfo{Reason: "REASON", Domain: "sightline.v1"}
	others := &errdetails.ErrorInfo{Reason: "REASON", Domain: "proxy"}
	for _, row := range []struct {
		code         codes.Code
		detail       protoiface.MessageV1
		isTriedAgain bool
	}{
		{codes.Unavailable, retry, true}, {codes.ResourceExhausted, retry, true},
		{codes.ResourceExhausted, ours, false}, {codes.Unauthenticated, expired, true},
		{codes.Unauthenticated, ours, false}, {codes.PermissionDenied, ours, false},
		{codes.InvalidArgument, ours, false}, {codes.Internal, ours, true},
		{codes.PermissionDenied, others, true}, {codes.ResourceExhausted, nil, true},
		{codes.Unauthenticated, nil, true}, {codes.Unimplemented, nil, true},
	} {
		f := newFake(t)
		f.open()
		refusal := status.New(row.code, "no")
		if row.detail != nil {
			var err error
			if refusal, err = refusal.WithDetails(row.detail); err != nil {
				t.Fatal(err)
			}
		}
		f.refusals = []error{refusal.Err()}
		_, err := send(t, dial(t, f), named("e")).Result(brief(t, testTime))
		var refused *RefusedError
		if (err == nil) != row.isTriedAgain || (err != nil && !errors.As(err, &refused)) {
			t.Errorf("%s with %v: %v", row.code, row.detail, err)
		}
	}
}

func TestALimitThatLetsNothingGoIsRefused(t *testing.T) {
	for _, row := range []struct {
		option  Option
		isTaken bool
	}{
		{WithBatch(Limits{1, 1, 1}), true}, {WithBatch(Limits{0, 1, 1}), false},
		{WithBatch(Limits{1, 0, 1}), false}, {WithBatch(Limits{1, 1, 0}), false},
		{WithMaxPending(1, 1), true}, {WithMaxPending(0, 1), false},
		{WithBatch(Limits{1, maxRequestBytes, 1}), true},
		{WithBatch(Limits{1, maxRequestBytes + 1, 1}), false},
	} {
		f := newFake(t)
		f.open()
		client, err := Dial(f.target, row.option)
		if (err == nil) != row.isTaken {
			t.Error(err)
		}
		if err == nil {
			send(t, client, named("e"))
			if _, err := client.Close(brief(t, testTime)); err != nil {
				t.Error(err)
			}
		}
	}
}
