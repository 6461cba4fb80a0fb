// One RecordEvents call, and what a request over HTTP shares with it: both wait until their events
// are durable.
package main

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	pb "sightline/v1"
)

// recordRequest keeps its own bytes beside what was decoded from them, for the journal.
type recordRequest struct {
	pb.RecordEventsRequest
	raw []byte
}

func (r *recordRequest) Unmarshal(data []byte) error {
	r.raw = data
	return proto.Unmarshal(data, &r.RecordEventsRequest)
}

// pending is a request that waits to be durable.
type pending struct {
	settled chan *answer
}

func (p *pending) settle(a *answer) { p.settled <- a }

// record judges events, and waits until their hits are on disk.
func (s *trackingServer) record(
	events []*pb.TrackingEvent, raw []byte, reportAccepted bool,
) *answer {
	r := &request{raw: raw}
	r.Events = events
	admitted := s.window.admit(r, time.Now(), reportAccepted)
	if s.journal == nil {
		return &admitted.answer
	}
	p := &pending{settled: make(chan *answer, 1)}
	s.journal.append(p, raw, admitted)
	return <-p.settled
}

// description is the service as it is generated, but that RecordEvents keeps its request's bytes.
var description = grpc.ServiceDesc{
	ServiceName: "sightline.v1.TrackingService",
	HandlerType: (*pb.TrackingServiceServer)(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "RecordEvents", Handler: recordEvents}},
	Streams: []grpc.StreamDesc{{
		StreamName: "StreamEvents", ServerStreams: true, ClientStreams: true,
		Handler: func(server interface{}, stream grpc.ServerStream) error {
			return server.(*trackingServer).streamEvents(stream)
		},
	}},
}

func recordEvents(
	server interface{}, _ context.Context, decode func(interface{}) error,
	_ grpc.UnaryServerInterceptor,
) (interface{}, error) {
	r := &recordRequest{}
	if err := decode(r); err != nil {
		return nil, err
	}
	if len(r.Events) > maxEvents {
		return nil, status.Errorf(codes.InvalidArgument,
			"%d events, the limit is %d: send smaller batches", len(r.Events), maxEvents)
	}
	a := server.(*trackingServer).record(r.Events, r.raw, true)
	return &pb.RecordEventsResponse{Results: a.results, Tally: a.tally.message()}, nil
}
