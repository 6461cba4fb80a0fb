// A grpc-go client with the settings that grpc-go has by itself: it sends requests at a steady rate
// on one stream, reads every answer, and fails unless the watermark has reached its last request.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"google.golang.org/grpc"
	pb "sightline/v1"
)

const requestsPerSecond = 200

// counts is what the client has seen.
type counts struct {
	requests, answers, accepted, durable uint64
}

func main() {
	seconds := 60
	if len(os.Args) == 3 {
		seconds, _ = strconv.Atoi(os.Args[2])
	}
	if len(os.Args) < 2 || len(os.Args) > 3 || seconds < 1 {
		fmt.Fprintln(os.Stderr, "usage: go-client HOST:PORT [SECONDS]")
		os.Exit(64)
	}
	seen, err := run(os.Args[1], uint64(seconds*requestsPerSecond))
	fmt.Printf("{\"requests\": %d, \"answers\": %d, \"accepted\": %d, \"durable\": %d}\n",
		seen.requests, seen.answers, seen.accepted, seen.durable)
	if err != nil {
		fmt.Fprintf(os.Stderr, "go-client: %v\n", err)
		os.Exit(1)
	}
	if seen.durable != seen.requests {
		os.Exit(1)
	}
}

func run(target string, total uint64) (counts, error) {
	connection, err := grpc.Dial(target, grpc.WithInsecure())
	if err != nil {
		return counts{}, err
	}
	defer connection.Close()
	stream, err := pb.NewTrackingServiceClient(connection).StreamEvents(context.Background())
	if err != nil {
		return counts{}, err
	}
	sent := make(chan uint64, 1)
	go func() { sent <- send(stream, total) }()
	seen, err := receive(stream)
	if err == nil {
		seen.requests = <-sent
	}
	return seen, err
}

// send sends the requests, each at its time, and ends the client's side.
func send(stream pb.TrackingService_StreamEventsClient, total uint64) uint64 {
	started := time.Now()
	for sequence := uint64(1); sequence <= total; sequence++ {
		due := started.Add(time.Duration(sequence) * time.Second / requestsPerSecond)
		time.Sleep(time.Until(due))
		if stream.Send(request(sequence, started)) != nil {
			return sequence // receive has the reason.
		}
	}
	stream.CloseSend()
	return total
}

func request(sequence uint64, started time.Time) *pb.StreamEventsRequest {
	return &pb.StreamEventsRequest{
		Sequence: sequence,
		Events: []*pb.TrackingEvent{{
			Interaction: &pb.TrackingEvent_TrackAction{TrackAction: &pb.TrackAction{
				DeliveryId: "1f",
				BroadlogId: fmt.Sprintf("h%x%06x", started.UnixNano(), sequence),
				Action:     pb.Action_ACTION_OPEN,
			}},
		}},
	}
}

// receive reads answers until the server ends the stream.
func receive(stream pb.TrackingService_StreamEventsClient) (counts, error) {
	var seen counts
	for {
		answer, err := stream.Recv()
		if err == io.EOF {
			return seen, nil
		}
		if err != nil {
			return seen, fmt.Errorf("after %d answers: %w", seen.answers, err)
		}
		seen.answers++
		seen.accepted += answer.GetTally().GetAccepted()
		seen.durable = answer.DurableSequence
	}
}
