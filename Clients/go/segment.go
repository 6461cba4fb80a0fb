package sightline

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
)

// A segment is a magic and then records: the length of an event's bytes and the CRC-32 of length and
// bytes, both 4 bytes little-endian, and the bytes. All client libraries have the same files.
const (
	spoolMagic = "SLSPOOL1"
	recordHead = 8
)

// SpoolDamagedError says that a file that was synced cannot be read: at Byte, behind so many whole
// events, stands no whole record, and what stands there is no torn end. No file was changed.
type SpoolDamagedError struct {
	Path   string
	Byte   int64
	Events int
}

func (e *SpoolDamagedError) Error() string {
	return fmt.Sprintf("sightline: the spool's file %s is damaged at byte %d, behind %d whole events: "+
		"only the end of the last file may be torn. No file was changed. To go on, keep a copy of it "+
		"and cut it at that byte, or move it away", e.Path, e.Byte, e.Events)
}

// foundSegment is what a file has: its events, and the end of the last whole record; 0 without a magic.
type foundSegment struct {
	number    uint64
	size, end int64
	events    [][]byte
}

// readSegment reads a file up to its end, or to its first record that is not whole. Such a one is torn
// where the file may be, and has no whole record behind it: it was never synced. Else it is damage.
func readSegment(text []byte, mayBeTorn bool) (found foundSegment, isDamaged bool) {
	found.size = int64(len(text))
	if !bytes.HasPrefix(text, []byte(spoolMagic)) {
		isTorn := strings.HasPrefix(spoolMagic, strings.TrimRight(string(text), "\x00"))
		return found, !mayBeTorn || !isTorn
	}
	rest := text[len(spoolMagic):]
	for {
		data, isWhole := eventAt(rest)
		if !isWhole {
			break
		}
		found.events = append(found.events, data)
		rest = rest[recordHead+len(data):]
	}
	found.end = found.size - int64(len(rest))
	return found, len(rest) > 0 && (!mayBeTorn || hasWholeRecord(rest[1:]))
}

// hasWholeRecord is true of bytes with a whole record anywhere in them.
func hasWholeRecord(text []byte) bool {
	for place := range text {
		if _, isWhole := eventAt(text[place:]); isWhole {
			return true
		}
	}
	return false
}

// eventAt is the event of the whole record that bytes begin with, if there is one.
func eventAt(text []byte) (data []byte, isWhole bool) {
	if len(text) < recordHead {
		return nil, false
	}
	length := uint64(binary.LittleEndian.Uint32(text))
	if length > uint64(len(text)-recordHead) {
		return nil, false
	}
	data = text[recordHead : recordHead+length]
	return data, checksum(text[:4], data) == binary.LittleEndian.Uint32(text[4:])
}

// left gives the events without a mark, each with its place.
func (f foundSegment) left(marks []byte, take func(place, []byte)) {
	for index, data := range f.events {
		if at := placeOf(f.number, index, data); !at.isMarked(marks) {
			take(at, data)
		}
	}
}

// sync makes durable what another process may have left in memory, without a torn end.
func (f foundSegment) sync(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err = file.Truncate(f.end); err == nil {
		err = fdatasync(file)
	}
	return firstError(err, file.Close())
}

func record(data []byte) []byte {
	start := head(data)
	return append(append(make([]byte, 0, recordHead+len(data)), start[:]...), data...)
}

// head is the length and checksum of an event's bytes. It is never zeros alone: no gap is a mark.
func head(data []byte) (text [recordHead]byte) {
	binary.LittleEndian.PutUint32(text[:], uint32(len(data)))
	binary.LittleEndian.PutUint32(text[4:], checksum(text[:4], data))
	return text
}

// checksum covers the length too: a tail of zeros, as a power cut may leave it, is no record.
func checksum(length, data []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(length), crc32.IEEETable, data)
}
