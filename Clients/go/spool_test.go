package sightline

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
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
func recovered(t *testing.T, spool *Spool) (found []string, places []place) {
	t.Helper()
	err := spool.recover(func(at place, data []byte) {
		found = append(found, string(data))
		places = append(places, at)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, places
}

func put(t *testing.T, spool *Spool, data string) place {
	t.Helper()
	at, err := spool.append([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return at
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

// ended is a folder whose owner has ended with three events in it, in files of so many bytes.
func ended(t *testing.T, segmentBytes int64) (folder string, files []string) {
	t.Helper()
	folder = t.TempDir()
	spool := open(t, folder, SpoolOptions{SegmentBytes: segmentBytes})
	for number := 0; number < 3; number++ {
		put(t, spool, fmt.Sprintf("event %d", number))
	}
	abandon(spool)
	return folder, segmentFiles(t, folder)
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// isFound checks what a new owner finds, and how much it cuts.
func isFound(t *testing.T, folder string, events int, cut int64) {
	t.Helper()
	spool := open(t, folder, SpoolOptions{})
	found, _ := recovered(t, spool)
	if want := []string{"event 0", "event 1", "event 2"}[:events]; !reflect.DeepEqual(found, want) {
		t.Errorf("found %q", found)
	}
	if spool.cutBytes != cut {
		t.Errorf("%d bytes are cut, and not %d", spool.cutBytes, cut)
	}
	abandon(spool)
}

// isDamaged checks that no owner is given anything, and that the file stays as it is.
func isDamaged(t *testing.T, folder string, damage SpoolDamagedError) {
	t.Helper()
	text := contents(t, damage.Path)
	// Whoever ignores it and closes the spool loses nothing either.
	for try := 0; try < 2; try++ {
		spool := open(t, folder, SpoolOptions{})
		err := spool.recover(func(place, []byte) { t.Error("an event is given") })
		var told *SpoolDamagedError
		if !errors.As(err, &told) || *told != damage {
			t.Errorf("%+v is told as %v", damage, err)
		}
		if err := spool.Close(); err != nil || !bytes.Equal(contents(t, damage.Path), text) {
			t.Errorf("%+v: the file was changed: %v", damage, err)
		}
	}
}

func TestATornEndIsCutAndTheRestIsFound(t *testing.T) {
	size := len(record([]byte("event 0")))
	for cut := 1; cut <= size; cut++ {
		folder, files := ended(t, 0)
		text := contents(t, files[0])
		write(t, files[0], text[:len(text)-cut])
		isFound(t, folder, 2, int64(size-cut))
		isFound(t, folder, 2, 0)
	}
}

func TestATailOfZerosIsNoEvent(t *testing.T) {
	folder, files := ended(t, 0)
	write(t, files[0], append(contents(t, files[0]), make([]byte, 64)...))
	isFound(t, folder, 3, 64)
}

// Wherever it stands but in the last record, which may be torn. A length is a byte too.
func TestAChangedByteIsToldAndNoFileIsChanged(t *testing.T) {
	size := len(record([]byte("event 0")))
	folder, files := ended(t, 0)
	whole := contents(t, files[0])
	for place := 0; place < len(spoolMagic)+2*size; place++ {
		text := append([]byte{}, whole...)
		text[place] ^= 1
		write(t, files[0], text)
		damage := SpoolDamagedError{Path: files[0]}
		if place >= len(spoolMagic) {
			damage.Events = (place - len(spoolMagic)) / size
			damage.Byte = int64(len(spoolMagic) + damage.Events*size)
		}
		isDamaged(t, folder, damage)
	}
}

// It was synced before the next one began.
func TestAnEarlierFileMayNotBeTorn(t *testing.T) {
	folder, files := ended(t, 1)
	text := contents(t, files[1])
	write(t, files[1], text[:len(text)-1])
	isDamaged(t, folder, SpoolDamagedError{files[1], int64(len(spoolMagic)), 0})
	if left := segmentFiles(t, folder); len(left) != 3 {
		t.Fatal(left)
	}
}

func TestAFileThatHadJustBegunGoes(t *testing.T) {
	for _, text := range []string{"", "SLSP", "SLSP\x00\x00\x00\x00\x00\x00", spoolMagic + "\x01"} {
		folder, _ := ended(t, 0)
		write(t, filepath.Join(folder, "0000000000000002.spool"), []byte(text))
		spool := open(t, folder, SpoolOptions{})
		if found, _ := recovered(t, spool); len(found) != 3 || len(segmentFiles(t, folder)) != 1 {
			t.Errorf("%q: %q, %v", text, found, segmentFiles(t, folder))
		}
		abandon(spool)
	}
}

// withSync has another function sync for the time of a test.
func withSync(t *testing.T, sync func(file *os.File) error) {
	own := fdatasync
	fdatasync = sync
	t.Cleanup(func() { fdatasync = own })
}

// Its owner may have ended before it was; what is sent next must not outlive it.
func TestWhatIsFoundIsSyncedBeforeItIsGiven(t *testing.T) {
	folder, files := ended(t, 1)
	var synced []string
	withSync(t, func(file *os.File) error {
		synced = append(synced, file.Name())
		return nil
	})
	spool := open(t, folder, SpoolOptions{})
	err := spool.recover(func(place, []byte) {
		if !reflect.DeepEqual(synced, files) {
			t.Errorf("synced %v of %v", synced, files)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	abandon(spool)
}

// Nobody knows what is durable of it: no other one may begin.
func TestASegmentThatCannotBeSyncedIsTheLast(t *testing.T) {
	folder, fails, own := t.TempDir(), errors.New("it fails"), fdatasync
	spool := open(t, folder, SpoolOptions{SegmentBytes: 1})
	put(t, spool, "event 0")
	withSync(t, func(*os.File) error { return fails })
	if _, err := spool.append([]byte("event 1")); err != fails {
		t.Fatal(err)
	}
	fdatasync = own
	if _, err := spool.append([]byte("event 2")); err != fails {
		t.Fatal(err)
	}
	abandon(spool)
	isFound(t, folder, 1, 0)
}

func TestWhatCannotBeSyncedIsNotGivenAndNotLost(t *testing.T) {
	folder, _ := ended(t, 0)
	fails, own := errors.New("it fails"), fdatasync
	withSync(t, func(*os.File) error { return fails })
	spool := open(t, folder, SpoolOptions{})
	err := spool.recover(func(place, []byte) { t.Error("an event is given") })
	if err != fails {
		t.Fatal(err)
	}
	abandon(spool)
	fdatasync = own
	isFound(t, folder, 3, 0)
}

// The runtime's signals interrupt goroutines that run for long.
func TestACallThatASignalInterruptsIsRepeated(t *testing.T) {
	for _, last := range []error{nil, syscall.EIO} {
		outcomes := []error{syscall.EINTR, syscall.EINTR, last}
		err := uninterrupted(func() error {
			outcome := outcomes[0]
			outcomes = outcomes[1:]
			return outcome
		})
		if err != last || len(outcomes) != 0 {
			t.Errorf("%v, and %d calls are left", err, len(outcomes))
		}
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

// Its lock is a record lock.
func TestAFolderOfAClientInJavaIsLocked(t *testing.T) {
	folder := t.TempDir()
	file, err := os.Create(filepath.Join(folder, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err := syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &lock); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenSpool(folder, SpoolOptions{}); !errors.Is(err, ErrSpoolLocked) {
		t.Fatalf("opened: %v", err)
	}
	lock.Type = syscall.F_UNLCK
	if err := syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &lock); err != nil {
		t.Fatal(err)
	}
	spool := open(t, folder, SpoolOptions{})
	defer abandon(spool)
	lock.Type = syscall.F_WRLCK
	if err := syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &lock); err != syscall.EAGAIN {
		t.Fatalf("locked twice: %v", err)
	}
}

// One byte beyond the limit has no room; once all is released there is room for it again.
func TestItsBytesAreBoundedAndComeBack(t *testing.T) {
	data := string(make([]byte, 100))
	most := int64(3 * (len(spoolMagic) + len(marksMagic) + len(record([]byte(data))) + recordHead))
	for limit, want := range map[int64]int{most - 1: 2, most: 3} {
		folder := t.TempDir()
		spool := open(t, folder, SpoolOptions{MaxBytes: limit})
		var places []place
		for spool.hasRoom(100) {
			places = append(places, put(t, spool, data))
		}
		if len(places) != want {
			t.Fatalf("%d events in %d bytes", len(places), limit)
		}
		for _, at := range places {
			spool.release(at)
			if held(t, folder) > spool.bytes || spool.bytes > limit {
				t.Fatalf("%d bytes, counted as %d of %d", held(t, folder), spool.bytes, limit)
			}
		}
		if !spool.hasRoom(100) {
			t.Fatalf("%d bytes are left", spool.bytes)
		}
		if err := spool.Close(); err != nil || held(t, folder) != 0 {
			t.Fatal(err, segmentFiles(t, folder))
		}
	}
}

// Whether there is room or not, it takes no event any more.
func TestNobodyWaitsForRoomOfADiskThatHasFailed(t *testing.T) {
	fails := errors.New("it fails")
	spool := open(t, t.TempDir(), SpoolOptions{MaxBytes: 1000})
	for spool.hasRoom(100) {
		put(t, spool, string(make([]byte, 100)))
	}
	spool.fail(fails)
	if !spool.hasRoom(100) {
		t.Error("a call waits for room")
	}
	if _, err := spool.append(make([]byte, 100)); err != fails {
		t.Error(err)
	}
	abandon(spool)
}

// held is the bytes of a spool's files.
func held(t *testing.T, folder string) (sum int64) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}

func TestRandomAppendsAndReleasesLeaveWhatIsNotReleased(t *testing.T) {
	folder, seed := t.TempDir(), time.Now().UnixNano()
	dice := rand.New(rand.NewSource(seed))
	kept := map[string]place{}
	for round := 0; round < 5; round++ {
		spool := open(t, folder, SpoolOptions{SegmentBytes: 200})
		found, places := recovered(t, spool)
		there := map[string]place{}
		for index, data := range found {
			there[data] = places[index]
		}
		for data := range kept {
			if _, is := there[data]; !is {
				t.Fatalf("seed %d: %q is lost", seed, data)
			}
		}
		if len(there) != len(kept) {
			t.Fatalf("seed %d: %d events are found, and %d were left", seed, len(there), len(kept))
		}
		kept = there
		for number := 0; number < 200; number++ {
			data := fmt.Sprintf("%d %d", round, number)
			kept[data] = put(t, spool, data)
			for data, at := range kept {
				if dice.Intn(2) == 0 {
					break
				}
				spool.release(at)
				delete(kept, data)
			}
			if held(t, folder) > spool.bytes {
				t.Fatalf("seed %d: %d bytes, counted as %d", seed, held(t, folder), spool.bytes)
			}
		}
		if spool.failure != nil {
			t.Fatal(spool.failure)
		}
		abandon(spool)
	}
}
