// Sends ten events on one stream, and reads answers until all are durable.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	sightline "stream/sightline/v1"
)

const requests = 10

func main() {
	connection, err := grpc.Dial(os.Args[1], grpc.WithInsecure())
	check(err)
	stream, err := sightline.NewTrackingServiceClient(connection).StreamEvents(context.Background())
	check(err)
	go send(stream)
	var durable, accepted uint64
	for {
		answer, err := stream.Recv()
		if err == io.EOF {
			break
		}
		check(err)
		durable = answer.DurableSequence
		accepted += answer.GetTally().GetAccepted()
	}
	fmt.Printf("durable up to %d, %d accepted\n", durable, accepted)
}

// send sends the requests and half-closes; where it fails, Recv has the reason.
func send(stream sightline.TrackingService_StreamEventsClient) {
	run := time.Now().UnixNano()
	for sequence := uint64(1); sequence <= requests; sequence++ {
		stream.Send(&sightline.StreamEventsRequest{
			Sequence: sequence,
			Events: []*sightline.TrackingEvent{{
				EventId: fmt.Sprintf("%x-%d", run, sequence),
				Interaction: &sightline.TrackingEvent_TrackAction{
					TrackAction: &sightline.TrackAction{
						DeliveryId: "56c4",
						BroadlogId: fmt.Sprintf("h%x%02x", run, sequence),
						Action:     sightline.Action_ACTION_OPEN,
					},
				},
			}},
		})
	}
	stream.CloseSend()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
