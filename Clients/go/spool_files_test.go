package sightline

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestASpoolIsFoundInAFolderOfAnyName(t *testing.T) {
	for _, name := range []string{"a[b]", "[", "a*b?", `a\b`} {
		folder := filepath.Join(t.TempDir(), name)
		for number := 0; number < 3; number++ {
			spool := open(t, folder, SpoolOptions{})
			recovered(t, spool)
			put(t, spool, fmt.Sprintf("event %d", number))
			abandon(spool)
			isFound(t, folder, number+1, 0)
		}
	}
}

func TestAFileOfAnotherNameIsNotTheSpools(t *testing.T) {
	for _, name := range []string{"copy.spool", "ffffffffffffffff", "2.spool",
		"000000000000000F.spool", "0000000000000001.spool.old"} {
		folder, files := ended(t, 0)
		whole, other := contents(t, files[0]), filepath.Join(folder, name)
		write(t, other, whole)
		write(t, files[0], whole[:len(whole)-1])
		isFound(t, folder, 2, int64(len(record([]byte("event 2"))))-1)
		if !bytes.Equal(contents(t, other), whole) {
			t.Errorf("%s was changed", name)
		}
	}
}

func TestASendThatWaitsIsToldOfTheLastSyncsFailure(t *testing.T) {
	fails := errors.New("it fails")
	spool := open(t, t.TempDir(), SpoolOptions{SyncSends: true})
	put(t, spool, "event 0")
	withSync(t, func(*os.File) error { return fails })
	if err := spool.Close(); err != fails {
		t.Fatal(err)
	}
	// It finds no file any more, and returns since the spool is closed.
	spool.run()
	if err := spool.waitForSync(); err != fails {
		t.Errorf("a Send is told %v", err)
	}
}
