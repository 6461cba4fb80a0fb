package sightline

import (
	"context"
	"log"
	"math"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/proto"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

// Option is a setting of a client.
type Option func(*options)

type options struct {
	limits               Limits
	linger, answerTime   time.Duration
	maxPending           int
	maxPendingBytes      int
	onResult             func(*pb.EventResult)
	reportAccepted       bool
	spool                *Spool
	onWarning            func(string)
	token                func(context.Context) (string, error)
	keyError             error
	closeTime            time.Duration
	callerTime           time.Duration
	traceparent          func(context.Context) string
	transportCredentials credentials.TransportCredentials
	keepalive            keepalive.ClientParameters
	dial                 []grpc.DialOption
}

func defaults() options {
	return options{
		limits: Limits{Events: 100, RequestBytes: 64 << 10, Requests: 16},
		linger: 5 * time.Millisecond, answerTime: 2 * time.Minute,
		maxPending: 10_000, maxPendingBytes: 8 << 20, closeTime: closeTime, callerTime: callerTime,
		onWarning: func(text string) { log.Print(text) },
		keepalive: keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 10 * time.Second},
	}
}

// WithToken has an API key or a JWT asked for with each stream. Space around it, such as the newline of
// its file, is left out. One that cannot be sent is asked for again, as after an error.
func WithToken(token func(context.Context) (string, error)) Option {
	return func(o *options) {
		o.keyError = nil
		o.token = func(ctx context.Context) (string, error) {
			text, err := token(ctx)
			if err != nil {
				return "", err
			}
			return sendable(text)
		}
	}
}

// WithAPIKey sends one key or token. Space around it, such as the newline of its file, is left out.
// Dial refuses one that cannot be sent.
func WithAPIKey(key string) Option {
	return func(o *options) {
		WithToken(func(context.Context) (string, error) { return key, nil })(o)
		_, o.keyError = o.token(context.Background())
	}
}

// WithTLS sets the transport's credentials, for example credentials.NewTLS(…); with a client
// certificate it is mTLS. Without this option there is no TLS.
func WithTLS(transport credentials.TransportCredentials) Option {
	return func(o *options) { o.transportCredentials = transport }
}

// WithOnResult is called with each event's result, in order, on a goroutine of its own. It should not
// block, and must not wait for room: use TrySend there. It must not call Close, which waits for it
// until its context ends.
func WithOnResult(onResult func(*pb.EventResult)) Option {
	return func(o *options) { o.onResult = onResult }
}

// WithOnWarning is told what a person should know, in a sentence: the first failure after a verdict,
// at most once a minute, the end of the client, and events that Close lost. Without this option
// log.Print is. It must not call Close.
func WithOnWarning(onWarning func(text string)) Option {
	return func(o *options) { o.onWarning = onWarning }
}

// WithReportAccepted has the hits and warnings of accepted events in their results.
func WithReportAccepted() Option {
	return func(o *options) { o.reportAccepted = true }
}

// WithBatch sets the limits of requests: 100 events, 64 KiB, 16 requests under way. The server's
// tighten them.
func WithBatch(limits Limits) Option {
	return func(o *options) { o.limits = limits }
}

// WithLinger is how long an event may wait for others to fill a request: 5 ms.
func WithLinger(linger time.Duration) Option {
	return func(o *options) { o.linger = linger }
}

// WithMaxPending is how much a client holds: 10,000 events and 8 MiB. Beyond that Send waits.
func WithMaxPending(events, bytes int) Option {
	return func(o *options) { o.maxPending, o.maxPendingBytes = events, bytes }
}

// WithSpool keeps events on disk until they are settled. The client closes it.
func WithSpool(spool *Spool) Option {
	return func(o *options) { o.spool = spool }
}

// WithKeepalive is how long a link may be silent before a PING, and how long its answer may take: 20 s
// and 10 s. gRPC takes no less than 10 s of silence.
func WithKeepalive(silence, timeout time.Duration) Option {
	return func(o *options) { o.keepalive.Time, o.keepalive.Timeout = silence, timeout }
}

// WithAnswerTimeout is how long requests may be under way without an answer before the stream is given
// up: 2 minutes.
func WithAnswerTimeout(timeout time.Duration) Option {
	return func(o *options) { o.answerTime = timeout }
}

// WithTraceparent is asked in each Send; an event without a trace of its own carries what it returns.
func WithTraceparent(traceparent func(context.Context) string) Option {
	return func(o *options) { o.traceparent = traceparent }
}

// WithDialOptions adds options of gRPC itself.
func WithDialOptions(dial ...grpc.DialOption) Option {
	return func(o *options) { o.dial = append(o.dial, dial...) }
}

func (o *options) dialOptions() []grpc.DialOption {
	security := grpc.WithInsecure()
	if o.transportCredentials != nil {
		security = grpc.WithTransportCredentials(o.transportCredentials)
	}
	// One answer may have the results of all requests under way: gRPC's 4 MiB are too few for that.
	calls := grpc.WithDefaultCallOptions(grpc.ForceCodec(requestCodec{}),
		grpc.MaxCallRecvMsgSize(math.MaxInt32))
	return append([]grpc.DialOption{security, grpc.WithKeepaliveParams(o.keepalive), calls,
		grpc.WithUserAgent("sightline-go/" + Version)}, o.dial...)
}

// requestCodec sends requests that are encoded already: their events are, since they were taken.
type requestCodec struct{}

func (requestCodec) Name() string                          { return "proto" }
func (requestCodec) Marshal(v interface{}) ([]byte, error) { return v.([]byte), nil }
func (requestCodec) Unmarshal(data []byte, v interface{}) error {
	return proto.Unmarshal(data, v.(proto.Message))
}
