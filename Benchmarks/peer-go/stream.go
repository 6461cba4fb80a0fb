// One StreamEvents call: the handler's goroutine reads and admits, another writes what has been
// settled meanwhile, all of it in one answer.
package main

import (
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	pb "sightline/v1"
)

const (
	maxUnderWay = 64
	maxEvents   = 2000
)

// request keeps its own bytes beside what was decoded from them, for the journal.
type request struct {
	pb.StreamEventsRequest
	raw []byte
}

func (r *request) Unmarshal(data []byte) error {
	r.raw = data
	return proto.Unmarshal(data, &r.StreamEventsRequest)
}

type trackingServer struct {
	pb.UnimplementedTrackingServiceServer
	window  *window
	journal *journal // nil discards
}

// tally counts events by verdict.
type tally struct {
	accepted, suppressed, duplicate, rejected uint64
}

func (t *tally) message() *pb.Tally {
	return &pb.Tally{
		Accepted: t.accepted, Suppressed: t.suppressed, Duplicate: t.duplicate, Rejected: t.rejected,
	}
}

// answer is what has been settled since the last answer.
type answer struct {
	sequence uint64
	requests int
	tally    tally
	results  []*pb.EventResult
}

func (a *answer) add(other *answer) {
	a.sequence = other.sequence
	a.requests += other.requests
	a.tally.accepted += other.tally.accepted
	a.tally.suppressed += other.tally.suppressed
	a.tally.duplicate += other.tally.duplicate
	a.tally.rejected += other.tally.rejected
	a.results = append(a.results, other.results...)
}

// ackQueue stands between a stream's reader, the journal and the stream's writer.
type ackQueue struct {
	mutex    sync.Mutex
	room     *sync.Cond
	work     *sync.Cond
	underWay int
	settled  answer
	isEnded  bool
}

func newAckQueue() *ackQueue {
	q := &ackQueue{}
	q.room = sync.NewCond(&q.mutex)
	q.work = sync.NewCond(&q.mutex)
	return q
}

// begin waits for room for one more request.
func (q *ackQueue) begin() {
	q.mutex.Lock()
	for q.underWay >= maxUnderWay {
		q.room.Wait()
	}
	q.underWay++
	q.mutex.Unlock()
}

func (q *ackQueue) settle(a *answer) {
	q.mutex.Lock()
	q.settled.add(a)
	q.mutex.Unlock()
	q.work.Signal()
}

func (q *ackQueue) end() {
	q.mutex.Lock()
	q.isEnded = true
	q.mutex.Unlock()
	q.work.Signal()
}

// take waits for something to tell; false once there will be no more.
func (q *ackQueue) take(into *pb.StreamEventsResponse) bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for q.settled.requests == 0 {
		if q.isEnded && q.underWay == 0 {
			return false
		}
		q.work.Wait()
	}
	s := &q.settled
	into.DurableSequence = s.sequence
	into.Results = s.results
	into.Tally = s.tally.message()
	q.underWay -= s.requests
	s.requests, s.results = 0, nil
	s.tally = tally{}
	q.room.Signal()
	return true
}

func (q *ackQueue) write(stream grpc.ServerStream, done chan<- error) {
	var failure error
	response := &pb.StreamEventsResponse{Limits: &pb.StreamLimits{
		MaxEvents: maxEvents, MaxRequestBytes: maxRequestBytes,
		MaxEventBytes: maxEventBytes, MaxUnacknowledgedRequests: maxUnderWay,
	}}
	for {
		if failure == nil {
			failure = stream.SendMsg(response)
		}
		response = &pb.StreamEventsResponse{}
		if !q.take(response) {
			done <- failure
			return
		}
	}
}

func (s *trackingServer) streamEvents(stream grpc.ServerStream) error {
	q := newAckQueue()
	done := make(chan error, 1)
	go q.write(stream, done)
	readError := s.read(stream, q)
	q.end()
	if writeError := <-done; readError == nil {
		return writeError
	}
	return readError
}

func (s *trackingServer) read(
	stream grpc.ServerStream, q *ackQueue,
) error {
	var last uint64
	var reportAccepted bool
	for {
		r := &request{}
		if err := stream.RecvMsg(r); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if r.Sequence <= last {
			return status.Errorf(codes.InvalidArgument,
				"sequence %d does not rise above %d: number requests upwards", r.Sequence, last)
		}
		if len(r.Events) > maxEvents {
			return status.Errorf(codes.InvalidArgument,
				"%d events, the limit is %d: send smaller batches", len(r.Events), maxEvents)
		}
		if last == 0 {
			reportAccepted = r.Options.GetReportAccepted()
		}
		last = r.Sequence
		q.begin()
		admitted := s.window.admit(r, time.Now(), reportAccepted)
		if s.journal == nil {
			q.settle(&admitted.answer)
		} else {
			s.journal.append(q, r.raw, admitted)
		}
	}
}
