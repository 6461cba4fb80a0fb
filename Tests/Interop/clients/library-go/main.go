// Sends events by Go's client library, with the arguments and lines that library.py describes.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	sightline "github.com/sightline/sightline/Clients/go"
	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
	"google.golang.org/grpc/credentials"
)

const (
	toldEvery = 100
	closeTime = 300 * time.Second
)

var (
	space      = flag.String("space", "", "begins every id, in hexadecimal")
	first      = flag.Int("first", 0, "the first one's number")
	events     = flag.Int("events", 0, "the last one's number, and 1")
	rate       = flag.Float64("rate", 0, "events in a second; 0 for all")
	batch      = flag.Int("batch", 100, "events in a request")
	maxPending = flag.Int("max-pending", 10_000, "events that the client holds")
	tokenFile  = flag.String("token-file", "", "an API key")
	roots      = flag.String("tls-roots", "", "PEM")
	own        = flag.String("tls-certificate", "", "PEM")
	ownKey     = flag.String("tls-key", "", "PEM")
	spool      = flag.String("spool", "", "a folder")
	keepalive  = flag.Float64("keepalive", 20, "seconds")
	quiet      = flag.Bool("quiet", false, "only the last line, for measuring")
)

func main() {
	target := os.Args[1]
	if err := flag.CommandLine.Parse(os.Args[2:]); err != nil {
		os.Exit(64)
	}
	if err := run(target); err != nil {
		fmt.Fprintf(os.Stderr, "library-go: %v\n", err)
		os.Exit(1)
	}
}

func run(target string) error {
	options, err := settings()
	if err != nil {
		return err
	}
	client, err := sightline.Dial(target, options...)
	if err != nil {
		return err
	}
	// Made before the clock starts: an application has its events.
	var made []*pb.TrackingEvent
	for number := *first; *quiet && number < *events; number++ {
		made = append(made, event(number))
	}
	started, used := time.Now(), cpu()
	if err := send(client, made, started); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	report, err := client.Close(ctx)
	seconds, used := time.Since(started).Seconds(), cpu()-used
	stats := client.Stats()
	tell(map[string]interface{}{"end": map[string]interface{}{
		"verdicts": stats.Verdicts, "pending": report.Pending, "streams": stats.Streams,
		"resent_requests": stats.ResentRequests, "retried_events": stats.RetriedEvents,
		"seconds": seconds, "cpu_seconds": used}})
	return err
}

func send(client *sightline.Client, made []*pb.TrackingEvent, started time.Time) error {
	ctx := context.Background()
	for number := *first; number < *events; number++ {
		next := func() *pb.TrackingEvent { return event(number) }
		if made != nil {
			next = func() *pb.TrackingEvent { return made[number-*first] }
		}
		if _, err := client.Send(ctx, next()); err != nil {
			return err
		}
		if *quiet || (number+1)%toldEvery != 0 {
			continue
		}
		tell(map[string]int{"taken": number + 1})
		if *rate > 0 {
			due := float64(number+1-*first) / *rate * float64(time.Second)
			time.Sleep(time.Until(started.Add(time.Duration(due))))
		}
	}
	return nil
}

func settings() ([]sightline.Option, error) {
	limits := sightline.Limits{Events: *batch, RequestBytes: 64 << 10, Requests: 16}
	silence := time.Duration(*keepalive * float64(time.Second))
	options := []sightline.Option{sightline.WithBatch(limits),
		sightline.WithMaxPending(*maxPending, 8<<20), sightline.WithKeepalive(silence, time.Second)}
	if !*quiet {
		var settled int64
		options = append(options, sightline.WithOnResult(func(*pb.EventResult) {
			if count := atomic.AddInt64(&settled, 1); count%toldEvery == 0 {
				tell(map[string]int64{"settled": count})
			}
		}))
	}
	if *tokenFile != "" {
		text, err := os.ReadFile(*tokenFile)
		if err != nil {
			return nil, err
		}
		options = append(options, sightline.WithAPIKey(strings.TrimSpace(string(text))))
	}
	if *spool != "" {
		opened, err := sightline.OpenSpool(*spool, sightline.SpoolOptions{})
		if err != nil {
			return nil, err
		}
		options = append(options, sightline.WithSpool(opened))
	}
	if *roots == "" {
		return options, nil
	}
	transport, err := transportSecurity()
	return append(options, sightline.WithTLS(transport)), err
}

func transportSecurity() (credentials.TransportCredentials, error) {
	text, err := os.ReadFile(*roots)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(text)
	if *own != "" {
		pair, err := tls.LoadX509KeyPair(*own, *ownKey)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return credentials.NewTLS(config), nil
}

// event is an event with one hit, whose id is its number.
func event(number int) *pb.TrackingEvent {
	return &pb.TrackingEvent{
		EventId: fmt.Sprint(number), AppId: "com.example.shop",
		SubjectId: fmt.Sprintf("subject-%d", number%5000),
		Interaction: &pb.TrackingEvent_TrackAction{TrackAction: &pb.TrackAction{
			DeliveryId: "1f", BroadlogId: fmt.Sprintf("h%s%08x", *space, number),
			Action: pb.Action_ACTION_OPEN}},
	}
}

// cpu is the seconds that this process has used.
func cpu() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

func tell(line interface{}) {
	text, err := json.Marshal(line)
	if err == nil {
		// In one piece: two goroutines tell.
		os.Stdout.Write(append(text, '\n'))
	}
}
