// Go's client library for `sightline-conformance client`: docs/clients/conformance.md says what a program
// for it does.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	sightline "github.com/sightline/sightline/Clients/go"
	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

func main() {
	ctx := context.Background()
	client, err := sightline.Dial(os.Getenv("SIGHTLINE_TARGET"),
		sightline.WithAPIKey(os.Getenv("SIGHTLINE_TOKEN")),
		sightline.WithOnResult(func(result *pb.EventResult) {
			tell(map[string]interface{}{"event_id": result.EventId, "verdict": result.Verdict})
		}))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var left []string
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		event := new(pb.TrackingEvent)
		if err := protojson.Unmarshal(input.Bytes(), event); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if _, err := client.Send(ctx, event); err != nil {
			left = append(left, event.EventId)
		}
	}
	_, err = client.Close(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	for _, event := range client.Unacknowledged() {
		left = append(left, event.EventId)
	}
	if len(left) > 0 {
		tell(map[string]interface{}{"unacknowledged": left})
		os.Exit(1)
	}
}

func tell(line interface{}) {
	text, err := json.Marshal(line)
	if err == nil {
		// In one piece: two goroutines tell.
		os.Stdout.Write(append(text, '\n'))
	}
}
