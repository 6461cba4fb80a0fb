// A backend for the grpc sink: takes hits into a file of JSON lines, each hit once.
//
// Usage: sink-go FILE HOST:PORT. The lines of a message are followed by one with its position, and
// all of them are synced before the ack. What stands after the last such line was not acknowledged.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"os"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	pb "sightline/v1"
)

// backend keeps a position for each pair of journal and sink, and the stream that may add to it.
type backend struct {
	pb.UnimplementedSinkServiceServer
	sync.Mutex
	file    *os.File
	ends    map[string]*pb.Position
	streams map[string]pb.SinkService_DeliverServer
}

// end is the line after the hits of a message.
type end struct {
	Pair string
	End  *pb.Position
}

// must ends the process where a call failed: of a disk that fails, nothing more is acknowledged.
func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func (b *backend) Deliver(stream pb.SinkService_DeliverServer) error {
	pair := ""
	for request, err := stream.Recv(); err == nil; request, err = stream.Recv() {
		response := b.answer(request, stream, &pair)
		if response == nil || stream.Send(response) != nil {
			return status.Error(codes.Aborted, "no hello, or a later stream")
		}
	}
	return nil
}

func (b *backend) answer(request *pb.DeliverRequest, stream pb.SinkService_DeliverServer, pair *string) *pb.DeliverResponse {
	b.Lock()
	defer b.Unlock()
	if hello := request.GetHello(); hello != nil {
		*pair = hello.JournalId + " " + hello.Sink
		b.streams[*pair] = stream // From here on, no earlier stream adds anything.
		welcome := &pb.Welcome{Version: 1, JournalId: hello.JournalId, Progress: &pb.Welcome_Nothing{Nothing: &pb.NothingDurable{}}}
		if position := b.ends[*pair]; position != nil {
			welcome.Progress = &pb.Welcome_Durable{Durable: position}
		}
		return &pb.DeliverResponse{Message: &pb.DeliverResponse_Welcome{Welcome: welcome}}
	}
	batch := request.GetBatch()
	if batch == nil || b.streams[*pair] != stream {
		return nil
	}
	b.store(batch, *pair)
	return &pb.DeliverResponse{Message: &pb.DeliverResponse_Ack{Ack: &pb.Ack{Durable: batch.End}}}
}

func (b *backend) store(batch *pb.RecordBatch, pair string) {
	var lines bytes.Buffer
	for _, record := range batch.Records {
		fmt.Fprintf(&lines, "{\"hit\":\"%x\"}\n", record.HitId)
	}
	must(json.NewEncoder(&lines).Encode(end{pair, batch.End}))
	_, err := lines.WriteTo(b.file)
	must(err)
	must(b.file.Sync())
	b.ends[pair] = batch.End
}

func main() {
	file, err := os.OpenFile(os.Args[1], os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	must(err)
	b := &backend{file: file, ends: map[string]*pb.Position{}, streams: map[string]pb.SinkService_DeliverServer{}}
	lines, read, whole := bufio.NewReader(file), int64(0), int64(0)
	for line, err := lines.ReadBytes('\n'); err == nil; line, err = lines.ReadBytes('\n') {
		var entry end
		read += int64(len(line))
		if json.Unmarshal(line, &entry) == nil && entry.End != nil {
			b.ends[entry.Pair], whole = entry.End, read
		}
	}
	must(file.Truncate(whole))
	listener, err := net.Listen("tcp", os.Args[2])
	must(err)
	fmt.Println("listening on port", listener.Addr().(*net.TCPAddr).Port)
	server := grpc.NewServer()
	pb.RegisterSinkServiceServer(server, b)
	must(server.Serve(listener))
}
