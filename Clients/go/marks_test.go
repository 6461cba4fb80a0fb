package sightline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

func names(count int) (events []string) {
	for number := 0; number < count; number++ {
		events = append(events, fmt.Sprintf("event %d", number))
	}
	return events
}

func putAll(t *testing.T, spool *Spool, events []string) (places []place) {
	t.Helper()
	for _, data := range events {
		places = append(places, put(t, spool, data))
	}
	return places
}

// isLeft checks what the next owner finds if this one is killed now: it opens a copy of the folder.
func isLeft(t *testing.T, folder string, want []string) {
	t.Helper()
	copied := t.TempDir()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		write(t, filepath.Join(copied, entry.Name()), contents(t, filepath.Join(folder, entry.Name())))
	}
	spool := open(t, copied, SpoolOptions{})
	if found, _ := recovered(t, spool); strings.Join(found, ",") != strings.Join(want, ",") {
		t.Fatalf("%d events are found from %.1q, and %d are left from %.1q",
			len(found), found, len(want), want)
	}
	abandon(spool)
}

// withFsync has another function sync marks and names for the time of a test.
func withFsync(t *testing.T, sync func(file *os.File) error) {
	own := fsync
	fsync = sync
	t.Cleanup(func() { fsync = own })
}

// syncedNames is of what is synced from now on.
func syncedNames(t *testing.T) *[]string {
	synced := &[]string{}
	withFsync(t, func(file *os.File) error {
		*synced = append(*synced, filepath.Base(file.Name()))
		return nil
	})
	return synced
}

func TestWhatWasSettledIsNotFoundAfterAKill(t *testing.T) {
	for _, segmentBytes := range []int64{200, 0} {
		for _, answer := range []int{1, 7, 100} {
			folder, events := t.TempDir(), names(1007)
			spool := open(t, folder, SpoolOptions{SegmentBytes: segmentBytes})
			places := putAll(t, spool, events)
			for start := 0; start < 1000; start += answer {
				end := start + answer
				if end > len(events) {
					end = len(events)
				}
				spool.release(places[start:end]...)
				if start%250 < answer || end >= 1000 {
					isLeft(t, folder, events[end:])
				}
			}
			abandon(spool)
		}
	}
}

// As where a part of a request has to come later. The next owner adds to the marks it finds.
func TestWhatWasSettledOutOfOrderIsNotFoundAfterAKill(t *testing.T) {
	folder, events := t.TempDir(), names(60)
	spool := open(t, folder, SpoolOptions{})
	places := putAll(t, spool, events)
	var left, rest []string
	var settled []place
	for number, data := range events {
		if number%3 == 1 || number == 40 {
			settled = append(settled, places[number])
		} else {
			left = append(left, data)
		}
	}
	spool.release(settled...)
	abandon(spool)
	spool = open(t, folder, SpoolOptions{})
	found, again := recovered(t, spool)
	if !reflect.DeepEqual(found, left) {
		t.Fatalf("found %q", found)
	}
	put(t, spool, "of the next owner")
	for index, at := range again {
		if index%2 == 0 {
			spool.release(at)
		} else {
			rest = append(rest, found[index])
		}
	}
	isLeft(t, folder, append(rest, "of the next owner"))
	abandon(spool)
}

func TestMarksAreSyncedAtTheLimitOfSettledEvents(t *testing.T) {
	for _, row := range []struct{ settled, before, after int }{
		{unsyncedEvents - 1, 0, 1}, {unsyncedEvents, 1, 1}, {unsyncedEvents + 1, 1, 2}} {
		folder := t.TempDir()
		spool := open(t, folder, SpoolOptions{})
		places := putAll(t, spool, names(row.settled+1))
		synced := syncedNames(t)
		count := func() (marks int) {
			for _, name := range *synced {
				if name == marksName(1) {
					marks++
				}
			}
			return marks
		}
		for _, at := range places[:row.settled] {
			spool.release(at)
		}
		if count() != row.before || len(*synced) != 2*row.before {
			t.Errorf("%d events: synced %v", row.settled, *synced)
		}
		if err := spool.Close(); err != nil || count() != row.after {
			t.Errorf("%d events, closed: synced %v, %v", row.settled, *synced, err)
		}
	}
}

// Else each owner that is killed would add to what a power cut brings back.
func TestWhatAnEarlierOwnerHasSettledIsSynced(t *testing.T) {
	for events := 0; events < 3; events++ {
		folder := t.TempDir()
		spool := open(t, folder, SpoolOptions{})
		if places := putAll(t, spool, names(events)); events > 0 {
			spool.release(places[0])
		}
		abandon(spool)
		synced := syncedNames(t)
		spool = open(t, folder, SpoolOptions{})
		recovered(t, spool)
		want := []string{marksName(1), filepath.Base(folder)}
		if events < 2 {
			want = want[1:]
		}
		if sort.Strings(*synced); !reflect.DeepEqual(*synced, want) {
			t.Errorf("%d events: synced %v", events, *synced)
		}
		abandon(spool)
	}
}

// A torn file, one of another form, and marks of other events: what a power cut may leave.
func TestWhatIsNoMarkSettlesNothing(t *testing.T) {
	text := func(data string) string {
		start := head([]byte(data))
		return string(start[:])
	}
	gap := strings.Repeat("\x00", recordHead)
	for _, marks := range []string{"", marksMagic[:5], marksMagic, marksMagic + gap + gap, gap + gap,
		"SLMARKS2" + text("event 0"), spoolMagic + text("event 0"),
		marksMagic + text("event 0")[:7], marksMagic + text("event 1") + text("event 0"),
		marksMagic + gap + gap + gap + text("event 0"), marksMagic + strings.Repeat("\xff", 100)} {
		folder, _ := ended(t, 0)
		write(t, filepath.Join(folder, marksName(1)), []byte(marks))
		spool := open(t, folder, SpoolOptions{})
		found, places := recovered(t, spool)
		if !reflect.DeepEqual(found, names(3)) {
			t.Errorf("%q: found %q", marks, found)
		}
		put(t, spool, "event 3")
		spool.release(places[1])
		isLeft(t, folder, []string{"event 0", "event 2", "event 3"})
		abandon(spool)
	}
}

// A file that was emptied has no marks of what was there before, also of the same bytes.
func TestAnEventThatComesAgainInItsPlaceIsKept(t *testing.T) {
	folder := t.TempDir()
	spool := open(t, folder, SpoolOptions{})
	for _, at := range putAll(t, spool, names(2)) {
		spool.release(at)
	}
	put(t, spool, "event 0")
	isLeft(t, folder, names(1))
	abandon(spool)
}

func TestMarksGoWithTheirSegmentAndThoseWithoutOneAtTheStart(t *testing.T) {
	folder := t.TempDir()
	spool := open(t, folder, SpoolOptions{SegmentBytes: 64})
	spool.release(putAll(t, spool, names(6))...)
	files := func() (names []string) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names
	}
	if err := spool.Close(); err != nil || !reflect.DeepEqual(files(), []string{"lock"}) {
		t.Fatal(err, files())
	}
	others := []string{"0000000000000001.settled.bak", "1.settled", "copy.settled"}
	for _, name := range append([]string{marksName(7)}, others...) {
		write(t, filepath.Join(folder, name), []byte(marksMagic))
	}
	spool = open(t, folder, SpoolOptions{})
	if found, _ := recovered(t, spool); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	abandon(spool)
	if !reflect.DeepEqual(files(), append(others, "lock")) {
		t.Fatal(files())
	}
}

// No reason to take no more events. Theirs are sent again after a kill.
func TestMarksThatTheDiskDoesNotTakeEndNothing(t *testing.T) {
	folder := t.TempDir()
	spool := open(t, folder, SpoolOptions{})
	places := putAll(t, spool, names(4))
	// A folder in its place takes none.
	marks := filepath.Join(folder, marksName(1))
	if err := os.Mkdir(marks, 0o700); err != nil {
		t.Fatal(err)
	}
	spool.release(places[:2]...)
	if err := os.Remove(marks); err != nil {
		t.Fatal(err)
	}
	spool.release(places[2])
	put(t, spool, "event 4")
	isLeft(t, folder, []string{"event 0", "event 1", "event 3", "event 4"})
	abandon(spool)
}

func TestMarksThatCannotBeSyncedEndNothing(t *testing.T) {
	folder := t.TempDir()
	spool := open(t, folder, SpoolOptions{})
	places := putAll(t, spool, names(unsyncedEvents+1))
	withFsync(t, func(*os.File) error { return errors.New("it fails") })
	spool.release(places[:unsyncedEvents]...)
	put(t, spool, "one more")
	isLeft(t, folder, []string{names(unsyncedEvents + 1)[unsyncedEvents], "one more"})
	abandon(spool)
}

// Its name is durably gone before its marks go.
func TestASegmentThatAPowerCutBringsBackHasItsMarks(t *testing.T) {
	folder, isSynced := t.TempDir(), false
	spool := open(t, folder, SpoolOptions{SegmentBytes: 64})
	places := putAll(t, spool, names(6))
	spool.release(places[:2]...)
	withFsync(t, func(*os.File) error {
		_, segmentErr := os.Stat(filepath.Join(folder, segmentName(1)))
		_, marksErr := os.Stat(filepath.Join(folder, marksName(1)))
		isSynced = isSynced || errors.Is(segmentErr, os.ErrNotExist) && marksErr == nil
		return nil
	})
	spool.release(places[2:]...)
	if !isSynced {
		t.Error("the marks went first")
	}
	abandon(spool)
}

func TestNobodyIsToldOfAVerdictBeforeTheSpoolHasIt(t *testing.T) {
	spool, isAsked := open(t, t.TempDir(), SpoolOptions{SegmentBytes: 64}), false
	client := &Client{options: options{spool: spool}, room: make(chan struct{}),
		stats: Stats{Verdicts: map[pb.Verdict]int{}}}
	var tickets []*Ticket
	for index, at := range putAll(t, spool, names(6)) {
		tickets = append(tickets, &Ticket{client: client, place: at,
			frame: frame([]byte(names(6)[index]))})
	}
	client.settled(tickets[:1])
	withFsync(t, func(*os.File) error {
		isAsked = true
		for _, ticket := range tickets[1:] {
			if ticket.isDone {
				t.Error("a ticket is done")
			}
		}
		return nil
	})
	client.settled(tickets[1:])
	if !isAsked || !tickets[5].isDone {
		t.Error("nothing was settled")
	}
	abandon(spool)
}
