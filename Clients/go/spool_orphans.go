package sightline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// How long a worker waits for its folder while another one adopts it, and how often it tries.
	adoptionTime, adoptionStep = 5 * time.Second, 10 * time.Millisecond
)

// waitForAdoption is a step of that wait; tests end the adoption in it.
var waitForAdoption = func() { time.Sleep(adoptionStep) }

// lockWithin locks a file for good; what is not to be adopted meanwhile is tried once.
func lockWithin(file *os.File, limit time.Duration) error {
	for started := time.Now(); ; waitForAdoption() {
		if err := lockFile(file); err == nil || !isHeld(err) || time.Since(started) >= limit {
			return err
		}
	}
}

// adopt takes over the events that nobody owns in the folders beside this one. They are durable here
// before they go there; an end between the two repeats them. Its failures leave events where they are.
func (s *Spool) adopt(take func(at place, data []byte)) (failures []error) {
	own, err := filepath.Abs(s.folder) // Of "." alone nobody can tell what is beside it.
	if err != nil {
		return []error{err}
	}
	parent := filepath.Dir(own)
	entries, err := os.ReadDir(parent)
	if err != nil {
		return []error{err}
	}
	for _, entry := range entries {
		folder := filepath.Join(parent, entry.Name())
		if !isOrphaned(folder) {
			continue
		}
		// What is locked has an owner, as the folder of this spool has.
		if err := s.adoptFrom(folder, take); err != nil && !errors.Is(err, ErrSpoolLocked) {
			failures = append(failures, fmt.Errorf("the spool %s is not adopted: %w", folder, err))
		}
	}
	return failures
}

// isOrphaned is true of a folder that was a spool's, and has files of it.
func isOrphaned(folder string) bool {
	if _, err := os.Stat(filepath.Join(folder, lockName)); err != nil {
		return false
	}
	numbers, err := (&Spool{folder: folder}).numbers()
	return err == nil && len(numbers) > 0
}

func (s *Spool) adoptFrom(folder string, take func(at place, data []byte)) error {
	orphan, err := OpenSpool(folder, SpoolOptions{})
	if err != nil {
		return err
	}
	defer orphan.Close()
	var events [][]byte
	needed := int64(2 * segmentBytes)
	err = orphan.recover(func(_ place, data []byte) {
		events = append(events, data)
		needed += int64(recordBytes + len(data))
	})
	if err != nil {
		return err
	}
	needed += needed / s.options.SegmentBytes * int64(segmentBytes)
	room := s.options.MaxBytes - s.bytes
	if room < 0 {
		room = 0 // One event may exceed MaxBytes where it is alone.
	}
	if needed > room {
		return fmt.Errorf("its %d events need %d bytes, and MaxBytes leaves %d", len(events), needed,
			room)
	}
	for _, data := range events {
		at, err := s.append(data)
		if err != nil {
			return err
		}
		take(at, data)
	}
	if err := s.sync(); err != nil {
		s.fail(err)
		return err
	}
	for number := range orphan.sizes {
		if err := orphan.remove(number); err != nil {
			return err
		}
	}
	return nil
}
