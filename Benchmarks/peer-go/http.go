// The HTTP door of the peer, on net/http: events as JSON to /v1/events, and the vendors' postbacks
// to /r/. Both go through the same rules, window and journal as a stream's requests.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	headSeconds = 10
	idleSeconds = 60
)

type httpDoor struct {
	listen, certificate, key string
	server                   *trackingServer
}

// problem is RFC 9457's form of an error.
type problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"`
}

// verdicts is what a batch of events came to.
type verdicts struct {
	Tally   map[string]uint64 `json:"tally"`
	Results []verdictOfEvent  `json:"results"`
}

type verdictOfEvent struct {
	Index      uint32      `json:"index"`
	EventID    string      `json:"eventId,omitempty"`
	Verdict    string      `json:"verdict"`
	Violations []violation `json:"violations,omitempty"`
}

type violation struct {
	Field       string `json:"field"`
	Code        string `json:"code"`
	Description string `json:"description"`
}

// open listens and prints the address; requests are served in the background.
func (d *httpDoor) open() error {
	listener, err := net.Listen("tcp", d.listen)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/events", d.recordEvents)
	mux.HandleFunc("/r/", d.recordPostback)
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: headSeconds * time.Second, IdleTimeout: idleSeconds * time.Second,
	}
	scheme, serve := "http", func() error { return server.Serve(listener) }
	if d.certificate != "" {
		scheme = "https"
		serve = func() error { return server.ServeTLS(listener, d.certificate, d.key) }
	}
	fmt.Printf("HTTP on %s://%s\n", scheme, listener.Addr())
	go func() { panic(serve()) }()
	return nil
}

func (d *httpDoor) recordEvents(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "send events by POST")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		refuse(w, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the limit is %d bytes: send smaller batches", maxRequestBytes))
		return
	} else if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	events, err := decodeEvents(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	a := d.server.record(events, body, r.URL.Query().Get("results") == "all")
	reply(w, http.StatusOK, "application/json", verdictsOf(a))
}

func verdictsOf(a *answer) *verdicts {
	told := &verdicts{
		Tally: map[string]uint64{
			"accepted": a.tally.accepted, "suppressed": a.tally.suppressed,
			"duplicate": a.tally.duplicate, "rejected": a.tally.rejected,
		},
		Results: make([]verdictOfEvent, 0, len(a.results)),
	}
	for _, result := range a.results {
		one := verdictOfEvent{
			Index: result.GetIndex(), EventID: result.EventId, Verdict: result.Verdict.String(),
		}
		for _, v := range result.Violations {
			one.Violations = append(one.Violations,
				violation{v.Field, v.Code.String(), v.Description})
		}
		told.Results = append(told.Results, one)
	}
	return told
}

func refuse(w http.ResponseWriter, status int, detail string) {
	reply(w, status, "application/problem+json",
		problem{Status: status, Title: http.StatusText(status), Detail: detail})
}

func reply(w http.ResponseWriter, status int, contentType string, body any) {
	var buffer bytes.Buffer
	if err := json.NewEncoder(&buffer).Encode(body); err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", fmt.Sprint(buffer.Len()))
	w.WriteHeader(status)
	// The client has gone where this fails, and the events are on disk.
	_, _ = w.Write(buffer.Bytes())
}
