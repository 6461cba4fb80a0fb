package sightline

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const spoolSuffix = ".spool"

// read reads all files, and changes none.
func (s *Spool) read() (found []foundSegment, err error) {
	numbers, err := s.numbers()
	if err != nil {
		return nil, err
	}
	for index, number := range numbers {
		path := s.path(number)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		segment, isDamaged := readSegment(text, index == len(numbers)-1)
		if isDamaged {
			return nil, &SpoolDamagedError{path, segment.end, len(segment.events)}
		}
		segment.number = number
		found = append(found, segment)
	}
	return found, nil
}

// numbers are those of the files, in order: ReadDir sorts names, and theirs are of one length. What
// has another name, such as somebody's copy of a file, does not belong to the spool.
func (s *Spool) numbers() (numbers []uint64, err error) {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := entry.Name()
		number, err := strconv.ParseUint(strings.TrimSuffix(name, spoolSuffix), 16, 64)
		if err == nil && name == segmentName(number) {
			numbers = append(numbers, number)
		}
	}
	return numbers, nil
}

func segmentName(number uint64) string { return fmt.Sprintf("%016x%s", number, spoolSuffix) }

func (s *Spool) path(number uint64) string {
	return filepath.Join(s.folder, segmentName(number))
}
