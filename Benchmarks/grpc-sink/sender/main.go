// What a grpc-go program sends to the same backend: it captures the messages of the sink once, and
// then sends them as they are, with the same window.
//
// Usage: sender capture FILE HITS prints its port, takes that many hits into FILE and ends; sender
// send FILE HOST:PORT WINDOW prints the hits per second.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	pb "sightline/v1"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	must(err)
	return value
}

// capturer writes each message with its length and its number of hits before it.
type capturer struct {
	pb.UnimplementedSinkServiceServer
	file *bufio.Writer
	left int
	done chan bool
}

func (c *capturer) Deliver(stream pb.SinkService_DeliverServer) error {
	for {
		request, err := stream.Recv()
		if err != nil {
			return err
		}
		if hello := request.GetHello(); hello != nil {
			must(stream.Send(&pb.DeliverResponse{Message: &pb.DeliverResponse_Welcome{
				Welcome: &pb.Welcome{Version: 1, JournalId: hello.JournalId,
					Progress: &pb.Welcome_Nothing{Nothing: &pb.NothingDurable{}}}}}))
			continue
		}
		bytes, err := proto.Marshal(request)
		must(err)
		hits := len(request.GetBatch().Records)
		must(binary.Write(c.file, binary.LittleEndian, []uint32{uint32(len(bytes)), uint32(hits)}))
		_, err = c.file.Write(bytes)
		must(err)
		must(stream.Send(&pb.DeliverResponse{Message: &pb.DeliverResponse_Ack{
			Ack: &pb.Ack{Durable: request.GetBatch().End}}}))
		if c.left -= hits; c.left <= 0 {
			c.done <- true
			return nil
		}
	}
}

func capture(path string, hits int) {
	file, err := os.Create(path)
	must(err)
	c := &capturer{file: bufio.NewWriter(file), left: hits, done: make(chan bool)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	fmt.Println("listening on port", listener.Addr().(*net.TCPAddr).Port)
	server := grpc.NewServer()
	pb.RegisterSinkServiceServer(server, c)
	go server.Serve(listener)
	<-c.done
	must(c.file.Flush())
}

// raw passes bytes on, and decodes answers.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(value interface{}) ([]byte, error) { return value.([]byte), nil }

func (raw) Unmarshal(data []byte, value interface{}) error {
	return proto.Unmarshal(data, value.(proto.Message))
}

type message struct {
	bytes []byte
	hits  int
}

func read(path string) (messages []message, all int) {
	file, err := os.Open(path)
	must(err)
	reader := bufio.NewReader(file)
	for {
		var head [2]uint32
		if err := binary.Read(reader, binary.LittleEndian, &head); err == io.EOF {
			return messages, all
		} else {
			must(err)
		}
		bytes := make([]byte, head[0])
		_, err := io.ReadFull(reader, bytes)
		must(err)
		messages = append(messages, message{bytes, int(head[1])})
		all += int(head[1])
	}
}

func send(path, target string, window int) {
	messages, all := read(path)
	connection, err := grpc.Dial(target, grpc.WithInsecure(), grpc.WithBlock())
	must(err)
	stream, err := connection.NewStream(context.Background(),
		&grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
		"/sightline.v1.SinkService/Deliver", grpc.ForceCodec(raw{}))
	must(err)
	hello, err := proto.Marshal(&pb.DeliverRequest{Message: &pb.DeliverRequest_Hello{
		Hello: &pb.Hello{Versions: []uint32{1}, JournalId: strconv.FormatInt(time.Now().UnixNano(), 36)}}})
	must(err)
	must(stream.SendMsg(hello))
	must(stream.RecvMsg(&pb.DeliverResponse{}))
	started := time.Now()
	acked := make(chan int, len(messages))
	go func() {
		for _, message := range messages {
			must(stream.RecvMsg(&pb.DeliverResponse{})) // An ack for each, in order.
			acked <- message.hits
		}
		close(acked)
	}()
	underWay := 0
	for _, message := range messages {
		for underWay > 0 && underWay+message.hits > window {
			underWay -= <-acked
		}
		must(stream.SendMsg(message.bytes))
		underWay += message.hits
	}
	for range acked {
	}
	fmt.Printf("%.0f\n", float64(all)/time.Since(started).Seconds())
}

func main() {
	switch {
	case len(os.Args) == 4 && os.Args[1] == "capture":
		capture(os.Args[2], number(os.Args[3]))
	case len(os.Args) == 5 && os.Args[1] == "send":
		send(os.Args[2], os.Args[3], number(os.Args[4]))
	default:
		log.Fatal("usage: sender capture FILE HITS, or sender send FILE HOST:PORT WINDOW")
	}
}
