// A file that is appended to, with group commit: what arrives during one fdatasync is the next
// group.
package main

import (
	"encoding/binary"
	"log"
	"os"
	"sync"
	"syscall"
	"time"
)

// settler waits for its requests to be durable: a stream's queue, or a call.
type settler interface {
	settle(a *answer)
}

// group is what one commit makes durable.
type group struct {
	bytes   []byte
	answers map[settler]*answer
}

type journal struct {
	file  *os.File
	mutex sync.Mutex
	work  *sync.Cond
	next  *group
}

func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file, next: newGroup()}
	j.work = sync.NewCond(&j.mutex)
	go j.run()
	return j, nil
}

func newGroup() *group { return &group{answers: map[settler]*answer{}} }

// append takes a request into the next group: its length, its hits, and its own bytes. One without
// hits only keeps its place in the stream's order.
func (j *journal) append(q settler, raw []byte, admitted admission) {
	j.mutex.Lock()
	g := j.next
	if len(admitted.hits) > 0 {
		g.bytes = appendRecord(g.bytes, raw, admitted.hits)
	}
	if a, ok := g.answers[q]; ok {
		a.add(&admitted.answer)
	} else {
		g.answers[q] = &admitted.answer
	}
	j.mutex.Unlock()
	j.work.Signal()
}

func appendRecord(b, raw []byte, hits []hit) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(raw)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(hits)))
	b = binary.LittleEndian.AppendUint64(b, uint64(time.Now().UnixMicro()))
	for i := range hits {
		b = binary.LittleEndian.AppendUint32(b, hits[i].index)
		b = append(b, hits[i].key[:]...)
		b = binary.LittleEndian.AppendUint16(b, hits[i].kinds)
		b = binary.LittleEndian.AppendUint16(b, hits[i].warnings)
	}
	return append(b, raw...)
}

func (j *journal) run() {
	spare := newGroup()
	for {
		j.mutex.Lock()
		for len(j.next.answers) == 0 {
			j.work.Wait()
		}
		g := j.next
		j.next = spare
		j.mutex.Unlock()
		j.commit(g)
		for q, a := range g.answers {
			q.settle(a)
			delete(g.answers, q)
		}
		g.bytes = g.bytes[:0]
		spare = g
	}
}

func (j *journal) commit(g *group) {
	if len(g.bytes) == 0 {
		return
	}
	if _, err := j.file.Write(g.bytes); err != nil {
		log.Fatalf("peer-go: append to %s: %v", j.file.Name(), err)
	}
	if err := syscall.Fdatasync(int(j.file.Fd())); err != nil {
		log.Fatalf("peer-go: fdatasync of %s: %v", j.file.Name(), err)
	}
}
