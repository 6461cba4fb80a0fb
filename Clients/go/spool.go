package sightline

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// Appends within this time share a sync.
	syncTime = 5 * time.Millisecond
	// A block of most file systems. Of a larger file that is emptied a power cut may leave the first
	// block empty and old events behind it, which reads as damaged.
	blockBytes = 4096
	// The bytes that a segment without events, and an event apart from its own, take with their marks.
	segmentBytes, recordBytes = len(spoolMagic) + len(marksMagic), 2 * recordHead
	// F_OFD_SETLK of Linux, which syscall lacks.
	ofdSetLock = 37
	lockName   = "lock"
)

// fdatasync returns once what was written is durable; tests have it fail.
var fdatasync = func(file *os.File) error {
	return uninterrupted(func() error { return syscall.Fdatasync(int(file.Fd())) })
}

// uninterrupted repeats a call of the disk that a signal has interrupted: Go's own preempt goroutines,
// and some file systems, such as those of FUSE, return for them.
func uninterrupted(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}

// flock locks a file; tests have it fail.
var flock = syscall.Flock

// ErrSpoolLocked says that another client has the folder open.
var ErrSpoolLocked = errors.New("sightline: the spool belongs to another client; each needs a folder of its own")

// SpoolOptions are the limits of a spool; 0 is the default.
type SpoolOptions struct {
	MaxBytes     int64 // Of all files: 256 MiB. Beyond them Send waits.
	SegmentBytes int64 // Of a file: 4 MiB. A file goes with its last event.
	SyncSends    bool  // Whether Send waits for fdatasync; else a power cut may take the last milliseconds.
	// Whether Dial takes over what workers that are gone have left in folders beside this one: give each
	// worker a folder of its own in one that has no others. A worker that is being adopted waits for it.
	AdoptOrphans bool
}

// Spool keeps events on disk until they are settled, so that not even the end of the process loses
// one, and repeats few. It is a folder of segments and their marks.
type Spool struct {
	folder    string
	options   SpoolOptions
	bytes     int64
	sizes     map[uint64]int64
	counts    map[uint64]int
	unsettled map[uint64]int
	marks     marks
	last      uint64
	cutBytes  int64
	lock      *os.File

	syncing sync.Mutex // Guards file, and is held while it is synced.
	file    *os.File

	state    sync.Mutex // Guards what follows.
	changed  *sync.Cond
	appended uint64
	synced   uint64
	failure  error
	isClosed bool
}

// OpenSpool makes or opens a folder, and locks it until it is closed.
func OpenSpool(folder string, options SpoolOptions) (*Spool, error) {
	if options.MaxBytes == 0 {
		options.MaxBytes = 256 << 20
	}
	if options.SegmentBytes == 0 {
		options.SegmentBytes = 4 << 20
	}
	if options.MaxBytes < 0 || options.SegmentBytes < 0 {
		return nil, fmt.Errorf("sightline: a limit of the spool below 0: %d MaxBytes, %d SegmentBytes",
			options.MaxBytes, options.SegmentBytes)
	}
	// So that a few events that are sent again cannot hold all of it.
	if quarter := options.MaxBytes / 4; options.SegmentBytes > quarter {
		options.SegmentBytes = quarter
	}
	if options.SegmentBytes == 0 {
		options.SegmentBytes = 1
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(folder, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	limit := time.Duration(0)
	if options.AdoptOrphans {
		limit = adoptionTime
	}
	if err := lockWithin(lock, limit); err != nil {
		lock.Close()
		if isHeld(err) {
			return nil, fmt.Errorf("%w: %s", ErrSpoolLocked, folder)
		}
		return nil, fmt.Errorf("sightline: the spool %s cannot be locked: %w", folder, err)
	}
	spool := &Spool{folder: folder, options: options, lock: lock, sizes: map[uint64]int64{},
		counts: map[uint64]int{}, unsettled: map[uint64]int{}, marks: newMarks(folder)}
	spool.changed = sync.NewCond(&spool.state)
	return spool, nil
}

// lockFile takes both kinds of locks: Java has no flock, and only record locks. That one is of the open
// file: the close of another one leaves it.
func lockFile(file *os.File) error {
	descriptor := file.Fd()
	whole := syscall.Flock_t{Type: syscall.F_WRLCK}
	return firstError(flock(int(descriptor), syscall.LOCK_EX|syscall.LOCK_NB),
		syscall.FcntlFlock(descriptor, ofdSetLock, &whole))
}

// isHeld is true of what a lock says that another client has. A disk without locks says something
// else.
func isHeld(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES)
}

// recover gives what an earlier owner left, in order, each with its place. All of it is synced: later
// events must not outlive it. A torn end was never promised: it is cut.
func (s *Spool) recover(take func(at place, data []byte)) error {
	found, err := s.read()
	if err != nil {
		return err
	}
	segments := map[uint64]bool{}
	for _, segment := range found {
		segments[segment.number] = true
	}
	marks, err := s.marks.read(segments)
	if err != nil {
		return err
	}
	for _, segment := range found {
		if err := s.keep(segment, marks[segment.number]); err != nil {
			return err
		}
	}
	s.marks.sync()
	for _, segment := range found {
		segment.left(marks[segment.number], take)
	}
	return nil
}

// keep takes a segment over, or removes it if nothing of it is left.
func (s *Spool) keep(segment foundSegment, marks []byte) error {
	count := 0
	segment.left(marks, func(place, []byte) { count++ })
	if count > 0 {
		if err := segment.sync(s.path(segment.number)); err != nil {
			return err
		}
	}
	s.cutBytes += segment.size - segment.end
	s.last = segment.number
	s.sizes[s.last], s.counts[s.last] = segment.end, len(segment.events)
	// A torn end may have had events with marks.
	if marked := len(marks) / recordHead; marked > len(segment.events) {
		s.counts[s.last] = marked
	}
	s.unsettled[s.last] = count
	s.bytes += s.bytesOf(s.last)
	if count == 0 {
		return s.remove(s.last)
	}
	return nil
}

// bytesOf is what a segment may take with its marks.
func (s *Spool) bytesOf(segment uint64) int64 {
	return s.sizes[segment] + int64(len(marksMagic)+s.counts[segment]*recordHead)
}

// hasRoom is true of an event that fits now; one always does where nothing else is kept. After a
// failure nobody is to wait: append returns it.
func (s *Spool) hasRoom(size int) bool {
	needed := int64(segmentBytes + recordBytes + size)
	return s.bytes <= int64(segmentBytes) || s.bytes+needed <= s.options.MaxBytes ||
		s.failed() != nil
}

// failed is what has ended the spool, or nil.
func (s *Spool) failed() error {
	s.state.Lock()
	defer s.state.Unlock()
	return s.failure
}

// append writes an event; returns its place, to be released there. Keeps none of it where the disk
// fails.
func (s *Spool) append(data []byte) (place, error) {
	if failure := s.failed(); failure != nil {
		return place{}, failure
	}
	if s.file == nil || s.sizes[s.last] >= s.options.SegmentBytes {
		if err := s.rotate(); err != nil {
			return place{}, err
		}
	}
	text := record(data)
	if _, err := s.file.Write(text); err != nil {
		// A record that is not whole may only be the last.
		if cutErr := s.cut(s.sizes[s.last]); cutErr != nil {
			s.fail(cutErr)
		}
		return place{}, err
	}
	at := placeOf(s.last, s.counts[s.last], data)
	s.sizes[s.last] += int64(len(text))
	s.counts[s.last]++
	s.bytes += int64(recordBytes + len(data))
	s.unsettled[s.last]++
	s.state.Lock()
	s.appended++
	s.state.Unlock()
	s.changed.Broadcast()
	return at, nil
}

func (s *Spool) cut(size int64) error {
	err := s.file.Truncate(size)
	_, seekErr := s.file.Seek(size, io.SeekStart)
	return firstError(err, seekErr)
}

// release says that events are settled, before anybody is told: then they are not sent again. A segment
// goes with its last one, and in others they are marked. Where the disk fails, they come back as
// duplicates; their verdicts are told, and append returns the failure.
func (s *Spool) release(places ...place) {
	for _, one := range places {
		s.unsettled[one.segment]--
	}
	for len(places) > 0 {
		run := places[:runLength(places)]
		places = places[len(run):]
		if count, is := s.unsettled[run[0].segment]; count > 0 {
			s.marks.write(run)
		} else if is {
			if err := s.end(run[0].segment); err != nil {
				s.fail(err)
			}
		}
		s.marks.count(len(run))
	}
}

// runLength is how many places, from the first, have marks that stand side by side.
func runLength(places []place) int {
	count := 1
	for count < len(places) && places[count].segment == places[0].segment &&
		places[count].mark == places[count-1].mark+recordHead {
		count++
	}
	return count
}

// end removes a segment without unsettled events. The file that is written to is emptied if it is
// small: if a power cut undoes that, its events come back as duplicates.
func (s *Spool) end(segment uint64) error {
	if segment != s.last || s.file == nil {
		return s.remove(segment)
	}
	if s.sizes[segment] > blockBytes {
		return firstError(s.closeSegment(), s.remove(segment))
	}
	s.bytes -= s.bytesOf(segment) - int64(segmentBytes)
	s.sizes[segment], s.counts[segment] = int64(len(spoolMagic)), 0
	return firstError(s.cut(s.sizes[segment]), s.marks.remove(segment))
}

// fail is the end of the spool: nobody knows what is durable after it. The first error is kept.
func (s *Spool) fail(err error) {
	s.state.Lock()
	s.failure = firstError(s.failure, err)
	s.state.Unlock()
	s.changed.Broadcast()
}

// waitForSync waits until all that was appended is synced, where sends are to be.
func (s *Spool) waitForSync() error {
	if !s.options.SyncSends {
		return nil
	}
	s.state.Lock()
	defer s.state.Unlock()
	for mark := s.appended; s.synced < mark && s.failure == nil; {
		s.changed.Wait()
	}
	return s.failure
}

// run syncs what is appended, until the spool is closed.
func (s *Spool) run() {
	for {
		s.state.Lock()
		for s.appended == s.synced && !s.isClosed {
			s.changed.Wait()
		}
		if s.appended == s.synced {
			s.state.Unlock()
			return
		}
		s.state.Unlock()
		if !s.options.SyncSends {
			time.Sleep(syncTime)
		}
		s.state.Lock()
		mark := s.appended
		s.state.Unlock()
		err := s.sync()
		s.state.Lock()
		s.synced, s.failure = mark, firstError(s.failure, err)
		s.state.Unlock()
		s.changed.Broadcast()
	}
}

func (s *Spool) sync() error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if s.file == nil {
		return nil
	}
	return fdatasync(s.file)
}

// Close syncs and closes it. What is not settled stays for the next owner. A client closes its own.
func (s *Spool) Close() error {
	s.state.Lock()
	wasClosed := s.isClosed
	s.isClosed = true
	s.state.Unlock()
	s.changed.Broadcast()
	if wasClosed {
		return nil
	}
	err := s.closeSegment()
	if count, is := s.unsettled[s.last]; is && count == 0 {
		err = firstError(err, s.remove(s.last))
	}
	s.marks.sync()
	return firstError(err, s.lock.Close())
}

func (s *Spool) rotate() error {
	if err := s.closeSegment(); err != nil {
		return err
	}
	path := s.path(s.last + 1)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(spoolMagic)
	if err = firstError(err, s.marks.syncNames()); err != nil {
		file.Close()
		os.Remove(path)
		return err
	}
	s.syncing.Lock()
	s.file = file
	s.syncing.Unlock()
	s.last++
	s.sizes[s.last], s.counts[s.last], s.unsettled[s.last] = int64(len(spoolMagic)), 0, 0
	s.bytes += int64(segmentBytes)
	return nil
}

// closeSegment syncs and closes the file. Its failure is kept before others may sync: they find no
// file then, and would tell those who wait that all is synced.
func (s *Spool) closeSegment() error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if s.file == nil {
		return nil
	}
	err := firstError(fdatasync(s.file), s.file.Close())
	s.file = nil
	if err != nil {
		s.fail(err)
	}
	return err
}

func (s *Spool) remove(number uint64) error {
	s.bytes -= s.bytesOf(number)
	delete(s.sizes, number)
	delete(s.counts, number)
	delete(s.unsettled, number)
	if err := os.Remove(s.path(number)); err != nil {
		return err
	}
	s.marks.unsynced[s.folder] = true
	if !s.marks.of[number] {
		return nil
	}
	// A segment that a power cut brings back has its marks.
	if err := s.marks.syncNames(); err != nil {
		return err
	}
	return s.marks.remove(number)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
