package sightline

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// left makes a folder of a worker that is gone, with events.
func left(t *testing.T, folder string, events ...string) {
	t.Helper()
	spool := open(t, folder, SpoolOptions{})
	for _, event := range events {
		put(t, spool, event)
	}
	abandon(spool)
}

func namesIn(t *testing.T, folder string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	return found
}

// adopted is what a spool finds of its own and of others, and what it could not adopt.
func adopted(t *testing.T, spool *Spool) (found []string, failures []error) {
	t.Helper()
	found, _ = recovered(t, spool)
	failures = spool.adopt(func(_ place, data []byte) { found = append(found, string(data)) })
	return found, failures
}

func TestAnOrphanIsAdoptedWithoutWhatWasSettled(t *testing.T) {
	parent := t.TempDir()
	own, orphan := filepath.Join(parent, "b"), filepath.Join(parent, "a")
	left(t, own, "own")
	spool := open(t, orphan, SpoolOptions{})
	settled := put(t, spool, "settled")
	put(t, spool, "first")
	put(t, spool, "second")
	spool.release(settled)
	abandon(spool)
	heir := open(t, own, SpoolOptions{AdoptOrphans: true})
	want := []string{"own", "first", "second"}
	if found, failures := adopted(t, heir); !reflect.DeepEqual(found, want) || failures != nil {
		t.Fatal(found, failures)
	}
	if found := namesIn(t, orphan); !reflect.DeepEqual(found, []string{lockName}) {
		t.Error(found)
	}
	abandon(heir)
	if found, _ := recovered(t, open(t, own, SpoolOptions{})); !reflect.DeepEqual(found, want) {
		t.Error(found)
	}
}

func TestWhatIsNoOrphanIsLeftAlone(t *testing.T) {
	parent := t.TempDir()
	alive := open(t, filepath.Join(parent, "alive"), SpoolOptions{})
	put(t, alive, "alive")
	left(t, filepath.Join(parent, "others"), "others")
	if err := os.Remove(filepath.Join(parent, "others", lockName)); err != nil {
		t.Fatal(err)
	}
	left(t, filepath.Join(parent, "done"))
	if err := os.WriteFile(filepath.Join(parent, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before := namesIn(t, filepath.Join(parent, "others"))
	heir := open(t, filepath.Join(parent, "heir"), SpoolOptions{AdoptOrphans: true})
	if found, failures := adopted(t, heir); found != nil || failures != nil {
		t.Error(found, failures)
	}
	if after := namesIn(t, filepath.Join(parent, "others")); !reflect.DeepEqual(after, before) {
		t.Error(after)
	}
}

func TestAnOrphanThatCannotBeAdoptedIsToldAndKept(t *testing.T) {
	var damaged *SpoolDamagedError
	for _, row := range []struct {
		damages  bool
		maxBytes int64
		want     string // Empty where it is adopted.
	}{
		{true, 0, "is damaged at byte 8"},
		{false, 1 << 10, ""}, // Room for just as much: see needed.
		{false, 1<<10 - 1, "its 1 events need 1024 bytes, and MaxBytes leaves 1023"},
	} {
		parent := t.TempDir()
		orphan := filepath.Join(parent, "orphan")
		left(t, orphan, strings.Repeat("e", 1<<10-2*segmentBytes-recordBytes-3*segmentBytes))
		file := segmentFiles(t, orphan)[0]
		if row.damages {
			text, _ := os.ReadFile(file)
			text[len(text)-1]++
			if err := os.WriteFile(file, append(text, record([]byte("whole"))...), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		heir := open(t, filepath.Join(parent, "heir"),
			SpoolOptions{AdoptOrphans: true, MaxBytes: row.maxBytes})
		found, failures := adopted(t, heir)
		if row.want == "" {
			if len(found) != 1 || failures != nil {
				t.Error(found, failures)
			}
			continue
		}
		if len(found) != 0 || len(failures) != 1 || !strings.Contains(failures[0].Error(), row.want) ||
			!strings.Contains(failures[0].Error(), orphan) {
			t.Error(found, failures)
		}
		if errors.As(failures[0], &damaged) != row.damages {
			t.Error(failures)
		}
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

func TestASpoolWithoutRoomTellsThatItAdoptsNothing(t *testing.T) {
	for _, row := range []struct {
		options SpoolOptions
		owns    string // One event fits where it is alone, however large it is.
		leaves  string
	}{
		{SpoolOptions{MaxBytes: 1}, "", "MaxBytes leaves 1"}, // A quarter of it is 0.
		{SpoolOptions{MaxBytes: 20}, "", "MaxBytes leaves 20"},
		{SpoolOptions{MaxBytes: 20}, "own", "MaxBytes leaves 0"},
		{SpoolOptions{MaxBytes: 100, SegmentBytes: 1}, "", "MaxBytes leaves 100"},
	} {
		parent := t.TempDir()
		orphan, own := filepath.Join(parent, "orphan"), filepath.Join(parent, "own")
		left(t, orphan, "first", "second")
		if row.owns != "" {
			left(t, own, row.owns)
		}
		before := namesIn(t, orphan)
		row.options.AdoptOrphans = true
		found, failures := adopted(t, open(t, own, row.options))
		if strings.Join(found, " ") != row.owns || len(failures) != 1 {
			t.Fatal(row, found, failures)
		}
		for _, words := range []string{orphan, "its 2 events need ", row.leaves} {
			if !strings.Contains(failures[0].Error(), words) {
				t.Error(row, failures)
			}
		}
		if after := namesIn(t, orphan); !reflect.DeepEqual(after, before) {
			t.Error(row, after)
		}
	}
}

func TestASpoolWithALimitBelow0IsRefused(t *testing.T) {
	for _, options := range []SpoolOptions{{MaxBytes: -1}, {SegmentBytes: -1}} {
		folder := filepath.Join(t.TempDir(), "spool")
		if spool, err := OpenSpool(folder, options); err == nil {
			t.Error(options, spool)
		}
		if _, err := os.Stat(folder); err == nil {
			t.Error(options, "it made a folder")
		}
	}
}

func TestAFolderWithARelativeNameHasTheSameNeighbours(t *testing.T) {
	parent := t.TempDir()
	left(t, filepath.Join(parent, "gone"), "left")
	left(t, filepath.Join(parent, "own", "below"), "below")
	before, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(before)
	if err := os.Chdir(filepath.Join(parent, "own")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".", "below/.."} {
		heir := open(t, name, SpoolOptions{AdoptOrphans: true})
		if found, failures := adopted(t, heir); !reflect.DeepEqual(found, []string{"left"}) ||
			failures != nil {
			t.Error(name, found, failures)
		}
		heir.Close()
	}
}

func TestAWorkerWaitsWhileItsFolderIsAdopted(t *testing.T) {
	folder := t.TempDir()
	adopter := open(t, folder, SpoolOptions{})
	wait := waitForAdoption
	defer func() { waitForAdoption = wait }()
	waitForAdoption = func() { t.Fatal("it waits without the option") }
	if _, err := OpenSpool(folder, SpoolOptions{}); !errors.Is(err, ErrSpoolLocked) {
		t.Fatal(err)
	}
	waitForAdoption = func() { adopter.Close() }
	open(t, folder, SpoolOptions{AdoptOrphans: true})
}

func TestADiskThatHasNoLocksIsNotTakenForAnOwner(t *testing.T) {
	wait := waitForAdoption
	defer func() { flock, waitForAdoption = syscall.Flock, wait }()
	flock = func(int, int) error { return syscall.ENOLCK }
	waitForAdoption = func() { t.Fatal("it waits") }
	for _, adopts := range []bool{false, true} {
		_, err := OpenSpool(t.TempDir(), SpoolOptions{AdoptOrphans: adopts})
		if !errors.Is(err, syscall.ENOLCK) || errors.Is(err, ErrSpoolLocked) {
			t.Error(adopts, err)
		}
	}
}

func TestAClientSendsWhatItAdopts(t *testing.T) {
	f, parent := newFake(t), t.TempDir()
	f.open()
	left(t, filepath.Join(parent, "gone"), string(mustMarshal(t, named("left"))))
	for _, row := range []struct {
		adopts bool
		want   []string
	}{{false, nil}, {true, []string{"left"}}} {
		spool := open(t, filepath.Join(parent, "worker"), SpoolOptions{AdoptOrphans: row.adopts})
		client := dial(t, f, WithSpool(spool))
		if count := client.Stats().AdoptedEvents; count != len(row.want) {
			t.Error(row, count)
		}
		if _, err := client.Close(brief(t, testTime)); err != nil {
			t.Fatal(err)
		}
		if stored := f.stored(); !reflect.DeepEqual(stored, row.want) {
			t.Error(row, stored)
		}
	}
}
