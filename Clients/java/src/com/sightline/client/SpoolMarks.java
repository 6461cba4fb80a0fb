package com.sightline.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which events of a spool's segments are settled, so that the next owner does not send them again. A
 * segment's file of marks is a magic, and behind it, at 8 times an event's index, the head of its
 * record; what else stands there is no mark. All client libraries have this form. Its owner calls it
 * under a lock.
 */
final class SpoolMarks {
    /**
     * Where an event stands: its segment, the byte of its mark, and the head of its record. The mark
     * is that head: so it is none of another event that is written to the same place.
     */
    record Place(long segment, long mark, long head) { }

    /** The bytes of a mark. */
    static final int MARK_BYTES = 8;
    /**
     * With so many settled events their marks are synced: a power cut brings back fewer, and those of
     * a file that was emptied. The end of the process brings none back.
     */
    static final int UNSYNCED_EVENTS = 1000;

    private static final byte[] MAGIC = "SLMARKS1".getBytes(StandardCharsets.US_ASCII);
    static final int MAGIC_BYTES = MAGIC.length;

    private final SpoolDirectory directory;
    /** The segments with a file of marks, and those of which it is not synced. */
    private final Set<Long> marked = new HashSet<>();
    private final Set<Long> unsynced = new HashSet<>();
    private boolean areNamesUnsynced;
    private int unsyncedEvents;

    SpoolMarks(SpoolDirectory directory) {
        this.directory = directory;
    }

    /** The place of an event with this index in its segment. */
    static Place place(long segment, int index, byte[] event) {
        return new Place(segment, MAGIC_BYTES + (long) index * MARK_BYTES,
                SpoolRecords.head(event));
    }

    /** Whether a file of marks has that of a place. */
    static boolean has(byte[] marks, Place place) {
        return place.mark() + MARK_BYTES <= marks.length && ByteBuffer.wrap(marks)
                .order(ByteOrder.LITTLE_ENDIAN).getLong((int) place.mark()) == place.head();
    }

    /**
     * The marks of segments. Removes those of others, and what has another form. Nothing that an
     * earlier owner has marked or removed counts as durable.
     */
    Map<Long, byte[]> read(Set<Long> segments) throws IOException {
        areNamesUnsynced = true;
        Map<Long, byte[]> found = new HashMap<>();
        for (long segment : directory.marks()) {
            byte[] marks = directory.contentsOfMarks(segment);
            boolean isOurs = marks.length >= MAGIC_BYTES
                    && Arrays.equals(marks, 0, MAGIC_BYTES, MAGIC, 0, MAGIC_BYTES);
            if (!isOurs || !segments.contains(segment)) {
                directory.removeMarks(segment);
                continue;
            }
            found.put(segment, marks);
            marked.add(segment);
            unsynced.add(segment);
        }
        return found;
    }

    /** Where the places end, from one on, whose marks stand side by side. */
    static int runEnd(List<Place> places, int start) {
        int end = start + 1;
        while (end < places.size() && places.get(end).segment() == places.get(start).segment()
                && places.get(end).mark() == places.get(end - 1).mark() + MARK_BYTES) {
            end++;
        }
        return end;
    }

    /**
     * Writes marks that stand side by side. Those that the disk does not take, as it is full, are
     * missed by the next owner alone: their events come back as duplicates.
     */
    void write(List<Place> run) {
        Place first = run.get(0);
        ByteBuffer heads = ByteBuffer.allocate(run.size() * MARK_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
        run.forEach(place -> heads.putLong(place.head()));
        areNamesUnsynced |= marked.add(first.segment());
        unsynced.add(first.segment());
        try {
            directory.mark(first.segment(), MAGIC, first.mark(), heads.array());
        } catch (IOException missed) {
            // Their next owner sends them again.
        }
    }

    /** Counts settled events, and syncs at the limit. */
    void count(int events) {
        unsyncedEvents += events;
        if (unsyncedEvents >= UNSYNCED_EVENTS) {
            sync();
        }
    }

    /** The events that were settled since the last sync. */
    int unsyncedEvents() {
        return unsyncedEvents;
    }

    /** Makes durable which events are settled. What cannot be synced may come back. */
    void sync() {
        for (long segment : unsynced) {
            try {
                directory.syncMarks(segment);
            } catch (IOException missed) {
                // A power cut may bring its events back.
            }
        }
        try {
            if (areNamesUnsynced) {
                syncNames();
            }
        } catch (IOException missed) {
            // The same.
        }
        unsynced.clear();
        unsyncedEvents = 0;
    }

    private void syncNames() throws IOException {
        areNamesUnsynced = false;
        directory.syncNames();
    }

    /** Notes that a segment's file was removed, and removes its marks. */
    void segmentRemoved(long segment) throws IOException {
        areNamesUnsynced = true;
        if (marked.contains(segment)) {
            // A segment that a power cut brings back has its marks.
            syncNames();
            remove(segment);
        }
    }

    /** Removes a segment's marks, if it has any. */
    void remove(long segment) throws IOException {
        unsynced.remove(segment);
        if (marked.remove(segment)) {
            directory.removeMarks(segment);
        }
    }
}
