// The Go peer: what a good engineer would write with grpc-go to take tracking events in. It does
// the benchmarked part of Sightline's job and nothing else.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"google.golang.org/grpc"
)

const (
	windowBytes     = 1 << 20
	maxRequestBytes = 1 << 20
	windowCapacity  = 2_000_000
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	mode := flag.String("mode", "discard", "discard or durable")
	file := flag.String("file", "", "the file that durable appends to")
	door := &httpDoor{}
	flag.StringVar(&door.listen, "http", "", "address of the HTTP door; empty for none")
	flag.StringVar(&door.certificate, "tls-certificate", "", "PEM file: the door speaks TLS")
	flag.StringVar(&door.key, "tls-key", "", "PEM file of its key")
	flag.Parse()
	if err := serve(*listen, *mode, *file, door); err != nil {
		log.Fatalf("peer-go: %v", err)
	}
}

func serve(listen, mode, file string, door *httpDoor) error {
	server := &trackingServer{window: newWindow(windowCapacity)}
	switch {
	case mode == "durable" && file != "":
		journal, err := openJournal(file)
		if err != nil {
			return err
		}
		server.journal = journal
	case mode != "discard":
		return fmt.Errorf("--mode %q --file %q: give discard, or durable with a file", mode, file)
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	grpcServer := grpc.NewServer(
		grpc.InitialWindowSize(windowBytes),
		grpc.InitialConnWindowSize(windowBytes),
		grpc.MaxRecvMsgSize(maxRequestBytes),
		grpc.MaxConcurrentStreams(100))
	grpcServer.RegisterService(&description, server)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-stop
		grpcServer.Stop()
	}()
	if door.listen != "" {
		door.server = server
		if err := door.open(); err != nil {
			return err
		}
	}
	fmt.Printf("listening on %s\n", listener.Addr())
	return grpcServer.Serve(listener)
}
