package sightline

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A segment's marks say which of its events are settled: a magic, and behind it, at 8 times an event's
// index, the head of its record. What else stands there is no mark.
const (
	marksMagic  = "SLMARKS1"
	marksSuffix = ".settled"
	// With so many settled events their marks are synced: a power cut brings back fewer, and those of a
	// file that was emptied. The end of the process brings none back.
	unsyncedEvents = 1000
)

// fsync makes a file, or the names of a folder, durable; tests have it fail.
var fsync = func(file *os.File) error { return file.Sync() }

// place is where an event stands: its segment, the byte of its mark, and the head of its record. The
// mark is that head: so it is none of another event that is written to the same place.
type place struct {
	segment uint64
	mark    int64
	head    [recordHead]byte
}

func placeOf(segment uint64, index int, data []byte) place {
	return place{segment, int64(len(marksMagic) + index*recordHead), head(data)}
}

// isMarked is true of an event whose mark stands in a file of marks.
func (p place) isMarked(marks []byte) bool {
	end := p.mark + recordHead
	return end <= int64(len(marks)) && bytes.Equal(marks[p.mark:end], p.head[:])
}

// marks are what a folder has of them, and what of them is not synced.
type marks struct {
	folder   string
	of       map[uint64]bool // The segments with a file.
	unsynced map[string]bool // Files, and the folder for its names.
	settled  int             // Events since the last sync.
}

func newMarks(folder string) marks {
	return marks{folder: folder, of: map[uint64]bool{}, unsynced: map[string]bool{}}
}

func (m *marks) path(segment uint64) string {
	return filepath.Join(m.folder, marksName(segment))
}

func marksName(segment uint64) string {
	return strings.TrimSuffix(segmentName(segment), spoolSuffix) + marksSuffix
}

// read returns the marks of segments, and removes those of others, and what has another form. Nothing
// that an earlier owner has marked or removed counts as durable.
func (m *marks) read(segments map[uint64]bool) (map[uint64][]byte, error) {
	entries, err := os.ReadDir(m.folder)
	if err != nil {
		return nil, err
	}
	found := map[uint64][]byte{}
	m.unsynced[m.folder] = true
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), marksSuffix)
		segment, err := strconv.ParseUint(name, 16, 64)
		if err != nil || entry.Name() != marksName(segment) {
			continue
		}
		text, err := os.ReadFile(m.path(segment))
		if err != nil {
			return nil, err
		}
		if !segments[segment] || !bytes.HasPrefix(text, []byte(marksMagic)) {
			if err := os.Remove(m.path(segment)); err != nil {
				return nil, err
			}
			continue
		}
		found[segment], m.of[segment] = text, true
		m.unsynced[m.path(segment)] = true
	}
	return found, nil
}

// write marks events side by side. What the disk does not take, as it is full, is missed by the next
// owner alone: the events come back as duplicates.
func (m *marks) write(run []place) {
	segment := run[0].segment
	file, err := os.OpenFile(m.path(segment), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	if !m.of[segment] {
		m.of[segment], m.unsynced[m.folder] = true, true
	}
	m.unsynced[m.path(segment)] = true
	if info, err := file.Stat(); err != nil || info.Size() < int64(len(marksMagic)) {
		if _, err := file.WriteAt([]byte(marksMagic), 0); err != nil {
			return
		}
	}
	heads := make([]byte, 0, len(run)*recordHead)
	for _, one := range run {
		heads = append(heads, one.head[:]...)
	}
	_, _ = file.WriteAt(heads, run[0].mark)
}

// count counts settled events, and syncs at the limit.
func (m *marks) count(events int) {
	if m.settled += events; m.settled >= unsyncedEvents {
		m.sync()
	}
}

// sync makes durable which events are settled. What cannot be synced may come back.
func (m *marks) sync() {
	for path := range m.unsynced {
		_ = syncPath(path)
	}
	m.unsynced, m.settled = map[string]bool{}, 0
}

// syncNames makes durable which files there are.
func (m *marks) syncNames() error {
	delete(m.unsynced, m.folder)
	return syncPath(m.folder)
}

// remove removes a segment's marks, if it has any.
func (m *marks) remove(segment uint64) error {
	if !m.of[segment] {
		return nil
	}
	delete(m.of, segment)
	delete(m.unsynced, m.path(segment))
	if err := os.Remove(m.path(segment)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func syncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return firstError(fsync(file), file.Close())
}
