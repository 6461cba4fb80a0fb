package sightline

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func open(t *testing.T, folder string, options SpoolOptions) *Spool {
	t.Helper()
	spool, err := OpenSpool(folder, options)
	if err != nil {
		t.Fatal(err)
	}
	return spool
}

// recovered is what a new owner finds.
func recovered(t *testing.T, spool *Spool) (found []string, segments []uint64) {
	t.Helper()
	err := spool.recover(func(segment uint64, data []byte) {
		found = append(found, string(data))
		segments = append(segments, segment)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, segments
}

func put(t *testing.T, spool *Spool, data string) uint64 {
	t.Helper()
	segment, err := spool.append([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return segment
}

// abandon is the end of a process: its files are closed, and nothing is said.
func abandon(spool *Spool) {
	spool.lock.Close()
	if spool.file != nil {
		spool.file.Close()
	}
}

func segmentFiles(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*"+spoolSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func TestADamagedTailIsCutAndTheRestIsFound(t *testing.T) {
	size := len(record([]byte("event 0")))
	damages := map[string]func(text []byte) []byte{
		"zeros":          func(text []byte) []byte { return append(text, make([]byte, 64)...) },
		"a changed byte": func(text []byte) []byte { text[len(text)-size-1] ^= 1; return text },
	}
	for cut := 1; cut <= size; cut++ {
		cut := cut
		damages[fmt.Sprintf("%d bytes less", cut)] = func(text []byte) []byte {
			return text[:len(text)-cut]
		}
	}
	for name, damage := range damages {
		folder := t.TempDir()
		spool := open(t, folder, SpoolOptions{})
		all := []string{"event 0", "event 1", "event 2"}
		for _, data := range all {
			put(t, spool, data)
		}
		abandon(spool)
		path := segmentFiles(t, folder)[0]
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, damage(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"zeros": 3, "a changed byte": 1}[name]
		if want == 0 {
			want = 2
		}
		again := open(t, folder, SpoolOptions{})
		if found, _ := recovered(t, again); !reflect.DeepEqual(found, all[:want]) {
			t.Errorf("%s: found %q", name, found)
		}
		abandon(again)
	}
}

func TestAFolderHasOneOwner(t *testing.T) {
	folder := t.TempDir()
	spool := open(t, folder, SpoolOptions{})
	if _, err := OpenSpool(folder, SpoolOptions{}); !errors.Is(err, ErrSpoolLocked) {
		t.Fatalf("opened twice: %v", err)
	}
	if err := spool.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, folder, SpoolOptions{}).Close(); err != nil {
		t.Fatal(err)
	}
}

// One byte beyond the limit has no room; once all is released there is room for it again.
func TestItsBytesAreBoundedAndComeBack(t *testing.T) {
	folder, data := t.TempDir(), string(make([]byte, 100))
	most := int64(2*len(spoolMagic) + 3*len(record([]byte(data))))
	spool := open(t, folder, SpoolOptions{MaxBytes: most})
	var segments []uint64
	for spool.hasRoom(100) {
		segments = append(segments, put(t, spool, data))
	}
	if len(segments) == 0 || spool.bytes > most || spool.hasRoom(100) {
		t.Fatalf("%d events, %d bytes", len(segments), spool.bytes)
	}
	for _, segment := range segments {
		if err := spool.release(segment); err != nil {
			t.Fatal(err)
		}
	}
	if !spool.hasRoom(100) {
		t.Fatalf("%d bytes are left", spool.bytes)
	}
	if err := spool.Close(); err != nil || len(segmentFiles(t, folder)) != 0 {
		t.Fatal(err, segmentFiles(t, folder))
	}
}

func TestRandomAppendsAndReleasesLeaveWhatIsNotReleased(t *testing.T) {
	folder, seed := t.TempDir(), time.Now().UnixNano()
	dice := rand.New(rand.NewSource(seed))
	kept := map[string]uint64{}
	for round := 0; round < 5; round++ {
		spool := open(t, folder, SpoolOptions{SegmentBytes: 200})
		found, segments := recovered(t, spool)
		there := map[string]uint64{}
		for index, data := range found {
			there[data] = segments[index]
		}
		for data := range kept {
			if _, is := there[data]; !is {
				t.Fatalf("seed %d: %q is lost", seed, data)
			}
		}
		kept = there
		for number := 0; number < 200; number++ {
			data := fmt.Sprintf("%d %d", round, number)
			kept[data] = put(t, spool, data)
			for data, segment := range kept {
				if dice.Intn(2) == 0 {
					break
				}
				if err := spool.release(segment); err != nil {
					t.Fatal(err)
				}
				delete(kept, data)
			}
		}
		abandon(spool)
	}
}
