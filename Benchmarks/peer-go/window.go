// Admission of a request: the rules, the hit keys, and the window of recent hits.
package main

import (
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	pb "sightline/v1"
)

const (
	markClicked   = 1 << 14
	markDismissed = 1 << 15
)

// hit is what one accepted event counts.
type hit struct {
	index    uint32
	key      hitKey
	kinds    uint16
	warnings uint16
}

// admission is a request after the rules and the window.
type admission struct {
	answer answer
	hits   []hit
}

// window remembers the newest keys; the oldest makes room for the newest.
type window struct {
	mutex sync.Mutex
	marks map[hitKey]uint16
	ring  []hitKey
	next  int
}

func newWindow(capacity int) *window {
	return &window{
		marks: make(map[hitKey]uint16, capacity), ring: make([]hitKey, 0, capacity),
	}
}

func (w *window) add(key hitKey, marks uint16) {
	known, ok := w.marks[key]
	if ok && known|marks == known {
		return
	}
	w.marks[key] = known | marks
	if ok {
		return
	}
	if len(w.ring) < cap(w.ring) {
		w.ring = append(w.ring, key)
		return
	}
	delete(w.marks, w.ring[w.next])
	w.ring[w.next] = key
	w.next++
	if w.next == len(w.ring) {
		w.next = 0
	}
}

// claim settles an accepted event against the window, and counts it there.
func (w *window) claim(c *claim) (granted, warnings uint16) {
	known := w.marks[c.fact]
	funnel := known
	if c.fact != c.notification {
		funnel = w.marks[c.notification]
	}
	granted = c.kinds &^ known
	if granted != 0 {
		warnings = c.funnelWarnings(granted, funnel)
	}
	marks := c.kinds
	var notification uint16
	if c.kinds&kindBit(pb.HitKind_HIT_KIND_CLICK) != 0 {
		notification |= markClicked
	}
	if c.isDismissal {
		notification |= markDismissed
	}
	if c.fact == c.notification {
		w.add(c.fact, marks|notification)
	} else {
		w.add(c.fact, marks)
		if notification != 0 {
			w.add(c.notification, notification)
		}
	}
	return granted, warnings
}

func (w *window) admit(r *request, now time.Time, reportAccepted bool) admission {
	judgements := make([]judgement, len(r.Events))
	for i, event := range r.Events {
		judgements[i].judge(event, now)
	}
	a := admission{hits: make([]hit, 0, len(r.Events))}
	w.mutex.Lock()
	for i := range judgements {
		j := &judgements[i]
		if j.verdict != pb.Verdict_VERDICT_ACCEPTED {
			continue
		}
		granted, warnings := w.claim(&j.claim)
		j.warnings |= warnings
		j.claim.kinds = granted
		if granted == 0 {
			j.verdict = pb.Verdict_VERDICT_DUPLICATE
			continue
		}
		a.hits = append(a.hits, hit{
			index: uint32(i), key: j.claim.fact, kinds: granted, warnings: j.warnings,
		})
	}
	w.mutex.Unlock()
	a.answer.requests = 1
	a.answer.sequence = r.Sequence
	for i := range judgements {
		j := &judgements[i]
		a.answer.tally.count(j.verdict)
		if reportAccepted || j.verdict != pb.Verdict_VERDICT_ACCEPTED {
			a.answer.results = append(a.answer.results, j.result(r, i))
		}
	}
	return a
}

func (t *tally) count(verdict pb.Verdict) {
	switch verdict {
	case pb.Verdict_VERDICT_ACCEPTED:
		t.accepted++
	case pb.Verdict_VERDICT_DUPLICATE:
		t.duplicate++
	case pb.Verdict_VERDICT_REJECTED:
		t.rejected++
	default:
		t.suppressed++
	}
}

func (j *judgement) result(r *request, index int) *pb.EventResult {
	result := &pb.EventResult{
		Sequence: r.Sequence, Index: proto.Uint32(uint32(index)),
		EventId: r.Events[index].GetEventId(), Verdict: j.verdict, Violations: j.violations,
	}
	if j.verdict != pb.Verdict_VERDICT_ACCEPTED {
		return result
	}
	for number := 1; number <= 10; number++ {
		if j.claim.kinds&(1<<number) != 0 {
			result.Hits = append(result.Hits, pb.HitKind(number))
		}
	}
	for number := 1; number <= 8; number++ {
		if j.warnings&(1<<number) != 0 {
			result.Warnings = append(result.Warnings, pb.Warning(number))
		}
	}
	return result
}
