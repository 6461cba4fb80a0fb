package sightline

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

const endingEvents = 100

// TestMain is also the program that ends, in its own process: the first word of SIGHTLINE_ENDING says
// how, the others how it is made.
func TestMain(m *testing.M) {
	words := strings.Fields(os.Getenv("SIGHTLINE_ENDING"))
	if len(words) == 0 {
		os.Exit(m.Run())
	}
	log.SetFlags(0)
	endAs(words[0], words[1:])
}

func endAs(ending string, ways []string) {
	failed := make(chan struct{}, 1)
	options := []Option{WithLinger(time.Millisecond)}
	waits := func() {}
	for _, way := range ways {
		switch way {
		case "once-failed": // Close has nothing to wait for once it is known why there is no verdict.
			waits = func() { <-failed }
			options = append(options, func(o *settings) { o.closeTime = 50 * time.Millisecond },
				WithOnWarning(func(text string) {
					log.Print(text)
					select {
					case failed <- struct{}{}:
					default:
					}
				}))
		case "tls":
			options = append(options, WithTLS(credentials.NewTLS(&tls.Config{})))
		case "spool":
			spool, err := OpenSpool(os.Getenv("SIGHTLINE_SPOOL"), SpoolOptions{})
			if err != nil {
				log.Fatal(err)
			}
			options = append(options, WithSpool(spool))
		}
	}
	client, err := Dial(os.Getenv("SIGHTLINE_TARGET"), options...)
	if err != nil {
		log.Fatal(err)
	}
	if ending == "panicked" || ending == "ignored" {
		defer client.Close(context.Background())
	}
	for number := 0; number < endingEvents; number++ {
		if _, err := client.Send(context.Background(), named(fmt.Sprint(number))); err != nil {
			log.Print(err)
			break
		}
	}
	waits()
	switch ending {
	case "closed":
		if _, err := client.Close(context.Background()); err != nil {
			log.Fatal(err)
		}
	case "panicked":
		panic("the program's own mistake")
	case "killed":
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin) // Until it is killed, or whoever would do that is gone.
	}
}

// settings is the type where a variable has its name.
type settings = options

// As the table of docs/clients.md says of Go.
func TestEachEndingSaysWhatIsLostAndWhy(t *testing.T) {
	const lost = "sightline: 100 events have no verdict, lost unless Unacknowledged is sent again " +
		"(there is no spool): "
	away := "connection refused"
	for _, row := range []struct {
		name, ending, server string
		exit                 int
		says                 []string // On stderr; nothing at all where there is nothing here.
		stored               int
		next                 int // What the next owner of the spool sends.
	}{
		{"closed", "closed", "open", 0, nil, 100, 0},
		{"its error ignored", "ignored", "open", 0, nil, 100, 0},
		{"not closed", "returned", "silent", 0, nil, 0, 0},
		{"not closed, a spool", "returned spool", "silent", 0, nil, 0, 100},
		{"a panic", "panicked", "open", 2, []string{"the program's own mistake"}, 100, 0},
		{"a panic, away", "panicked once-failed", "away", 2,
			[]string{lost + "context deadline exceeded; last failure: ", away,
				"the program's own mistake"}, 0, 0},
		{"away", "closed once-failed", "away", 1,
			[]string{lost + "context deadline exceeded; last failure: ", away}, 0, 0},
		{"away, its error ignored", "ignored once-failed", "away", 0, []string{lost, away}, 0, 0},
		{"away, a spool", "closed once-failed spool", "away", 1,
			[]string{"sightline: 100 events have no verdict, kept in the spool ", away}, 0, 100},
		{"a wrong key", "closed", "refusing", 1,
			[]string{"no verdict, lost unless", "refuses this client: Unauthenticated: no such key"},
			0, 0},
		{"plaintext to TLS", "closed once-failed", "tls", 1,
			[]string{lost, "this port may speak TLS, which WithTLS gives"}, 0, 0},
		{"TLS of another authority", "closed once-failed tls", "tls", 1,
			[]string{lost, "the server's certificate is not one that WithTLS trusts"}, 0, 0},
		{"TLS to plaintext", "closed once-failed tls", "open", 1,
			[]string{lost, "this port speaks no TLS: leave WithTLS out"}, 0, 0},
		{"killed", "killed", "silent", -1, nil, 0, 0},
		{"killed, a spool", "killed spool", "silent", -1, nil, 0, 100},
	} {
		f := serverThatIs(t, row.server)
		folder := t.TempDir()
		exit, said := endOf(t, f.target, folder, row.ending)
		if exit != row.exit || (len(row.says) == 0 && said != "") {
			t.Errorf("%s: exit %d, %q", row.name, exit, said)
		}
		for _, words := range row.says {
			if !strings.Contains(said, words) {
				t.Errorf("%s: it does not say %q: %q", row.name, words, said)
			}
		}
		if stored := len(f.stored()); stored != row.stored {
			t.Errorf("%s: %d events are stored", row.name, stored)
		}
		if left, _ := recovered(t, open(t, folder, SpoolOptions{})); len(left) != row.next {
			t.Errorf("%s: %d events are in the spool", row.name, len(left))
		}
	}
}

// serverThatIs open accepts, silent answers nothing, refusing refuses, tls speaks it, away is none.
func serverThatIs(t *testing.T, kind string) *fake {
	t.Helper()
	switch kind {
	case "away":
		return &fake{target: "127.0.0.1:1"}
	case "tls":
		return newFake(t, grpc.Creds(credentials.NewServerTLSFromCert(selfSigned(t))))
	}
	f := newFake(t)
	switch kind {
	case "open":
		f.open()
	case "refusing":
		refusal, err := status.New(codes.Unauthenticated, "no such key").WithDetails(
			&errdetails.ErrorInfo{Reason: "CREDENTIALS_INVALID", Domain: reasonDomain})
		if err != nil {
			t.Fatal(err)
		}
		f.refuse(refusal.Err())
	}
	return f
}

func (f *fake) stored() (ids []string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, event := range f.events {
		ids = append(ids, event.EventId)
	}
	return ids
}

// endOf is how a process ended, -1 where it was killed, and what it said on stderr.
func endOf(t *testing.T, target, folder, ending string) (exit int, said string) {
	t.Helper()
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), "SIGHTLINE_ENDING="+ending, "SIGHTLINE_TARGET="+target,
		"SIGHTLINE_SPOOL="+folder)
	var words strings.Builder
	program.Stderr = &words
	output, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := program.StdinPipe(); err != nil { // Open until the program has ended.
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(ending, "killed") {
		if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
			t.Error(err)
		}
		if err := program.Process.Kill(); err != nil {
			t.Error(err)
		}
	}
	var failure *exec.ExitError
	if err := program.Wait(); err != nil && !errors.As(err, &failure) {
		t.Fatal(err)
	}
	return program.ProcessState.ExitCode(), words.String()
}

func selfSigned(t *testing.T) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}}
	data, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{data}, PrivateKey: key}
}
