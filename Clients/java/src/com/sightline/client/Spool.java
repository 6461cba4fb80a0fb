package com.sightline.client;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Events on disk until they are settled, so that the end of the process loses none, and repeats
 * few. Its owner calls it under a lock, {@link #awaitSync} apart.
 *
 * <p>A file is synced before the next one begins: a power cut can tear only the last one. A file
 * goes with its last event, or is emptied while it is written to; if a power cut undoes that, its
 * events come back as duplicates.
 */
final class Spool {
    /** An event that an earlier owner left, and the place to release it from. */
    record Left(byte[] event, SpoolMarks.Place place) { }

    private record FoundSegment(long number, int bytes, SpoolRecords.Found found) { }

    private static final class Segment {
        private long bytes;
        private int events;
        private int unsettled;

        /** What it may take with its marks. */
        private long cost() {
            return bytes + SpoolMarks.MAGIC_BYTES + (long) events * SpoolMarks.MARK_BYTES;
        }
    }

    /**
     * From this size on, the file that is written to goes with its last event, too. It is a block of
     * most file systems: of a larger file that is emptied a power cut may leave the first block empty
     * and old events behind it, which reads as damaged.
     */
    private static final long IDLE_BYTES = 4096;

    private final SpoolDirectory directory;
    private final SpoolMarks marks;
    private final SpoolSync sync;
    private final long maxBytes;
    private final long segmentBytes;
    private final Map<Long, Segment> segments = new HashMap<>();
    private long bytes;
    private int unsettled;
    private long cutBytes;
    private long last;
    /** The last segment's; null until this owner has begun one. */
    private SpoolFile file;
    private boolean isClosed;

    /** Locks a directory. {@link #recover} comes next. */
    Spool(Path path, long maxBytes, long segmentBytes, boolean syncSends) {
        this.maxBytes = maxBytes;
        // So that a few events that are sent again cannot hold all of it.
        this.segmentBytes = Math.min(segmentBytes, Math.max(1, maxBytes / 4));
        this.sync = new SpoolSync(syncSends);
        this.directory = SpoolDirectory.open(path);
        this.marks = new SpoolMarks(directory);
    }

    /** Syncs what is appended until it is closed or has failed; the function of a thread. */
    void run() {
        sync.run();
    }

    /** Waits until all that was appended is durable, where sends do. */
    void awaitSync() {
        sync.await();
    }

    /** The bytes of a torn record that `recover` has cut. */
    long cutBytes() {
        return cutBytes;
    }

    /** What an earlier owner left, in order. It is synced: a later file must not outlive it. */
    List<Left> recover() {
        List<FoundSegment> all = read();
        Map<Long, byte[]> settled = readMarks(all);
        List<Left> left = new ArrayList<>();
        for (FoundSegment one : all) {
            last = one.number();
            cutBytes += one.bytes() - one.found().end();
            byte[] ownMarks = settled.getOrDefault(last, new byte[0]);
            List<Left> own = left(one, ownMarks);
            if (own.isEmpty()) {
                remove(last);
                continue;
            }
            keep(one, own.size(), ownMarks.length / SpoolMarks.MARK_BYTES);
            left.addAll(own);
        }
        marks.sync();
        sync.check();
        return left;
    }

    /** The events of a segment without a mark. */
    private static List<Left> left(FoundSegment one, byte[] settled) {
        List<Left> left = new ArrayList<>();
        List<byte[]> events = one.found().events();
        for (int index = 0; index < events.size(); index++) {
            byte[] event = events.get(index);
            SpoolMarks.Place place = SpoolMarks.place(one.number(), index, event);
            if (!SpoolMarks.has(settled, place)) {
                left.add(new Left(event, place));
            }
        }
        return left;
    }

    private Map<Long, byte[]> readMarks(List<FoundSegment> all) {
        try {
            return marks.read(all.stream().map(FoundSegment::number).collect(Collectors.toSet()));
        } catch (IOException error) {
            throw SpoolException.failed("read the marks in", directory.path(), error);
        }
    }

    private List<FoundSegment> read() {
        List<FoundSegment> all = new ArrayList<>();
        try {
            List<Long> numbers = directory.segments();
            for (long number : numbers) {
                byte[] contents = directory.contents(number);
                boolean isLast = number == numbers.get(numbers.size() - 1);
                SpoolRecords.Found found = SpoolRecords.read(contents, isLast);
                if (found.isDamaged()) {
                    throw new SpoolException.Damaged(directory.path(number), found);
                }
                all.add(new FoundSegment(number, contents.length, found));
            }
        } catch (IOException error) {
            throw SpoolException.failed("read", directory.path(), error);
        }
        return all;
    }

    private void keep(FoundSegment one, int left, int marked) {
        SpoolRecords.Found found = one.found();
        try {
            try (SpoolFile opened = new SpoolFile(directory.path(one.number()))) {
                if (found.end() < one.bytes()) {
                    opened.truncate(found.end());
                }
                opened.sync();
            }
        } catch (IOException error) {
            throw SpoolException.failed("sync", directory.path(one.number()), error);
        }
        Segment segment = new Segment();
        segment.bytes = found.end();
        // A torn end may have had events with marks.
        segment.events = Math.max(found.events().size(), marked);
        segment.unsettled = left;
        add(one.number(), segment);
    }

    private void add(long number, Segment segment) {
        segments.put(number, segment);
        bytes += segment.cost();
        unsettled += segment.unsettled;
    }

    /**
     * Whether `append` need not wait now: an event fits, as one always does where nothing else is
     * kept, or nothing will be written any more.
     */
    boolean hasRoom(int eventBytes) {
        return unsettled == 0 || bytes + needed(eventBytes) <= maxBytes || sync.hasFailed();
    }

    private static long needed(int eventBytes) {
        return SpoolRecords.MAGIC_BYTES + SpoolMarks.MAGIC_BYTES + SpoolRecords.HEAD_BYTES
                + SpoolMarks.MARK_BYTES + eventBytes;
    }

    /** Writes an event; its place, to be released there. Keeps none of it where this throws. */
    SpoolMarks.Place append(byte[] event) {
        sync.check();
        Segment segment = segmentWithRoom();
        byte[] record = SpoolRecords.of(event);
        try {
            file.append(record);
        } catch (IOException error) {
            // A record that is not whole may only be the last.
            cut(segment);
            throw SpoolException.failed("write", file.path(), error);
        }
        SpoolMarks.Place place = SpoolMarks.place(last, segment.events, event);
        bytes -= segment.cost();
        segment.bytes += record.length;
        segment.events++;
        segment.unsettled++;
        bytes += segment.cost();
        unsettled++;
        sync.appended(file);
        return place;
    }

    /** The last segment, or a new one. */
    private Segment segmentWithRoom() {
        if (file != null) {
            Segment segment = segments.get(last);
            if (segment.bytes < segmentBytes) {
                return segment;
            }
            endSegment();
            if (segment.unsettled == 0) {
                remove(last);
            }
        }
        try {
            file = directory.create(last + 1, SpoolRecords.magic());
        } catch (IOException error) {
            throw SpoolException.failed("begin", directory.path(last + 1), error);
        }
        last++;
        Segment segment = new Segment();
        segment.bytes = SpoolRecords.MAGIC_BYTES;
        add(last, segment);
        return segment;
    }

    private void endSegment() {
        SpoolFile ended = file;
        file = null;
        try (ended) {
            ended.sync();
        } catch (IOException error) {
            sync.fail(SpoolException.failed("sync", ended.path(), error));
            sync.check();
        }
    }

    /** Removes what is beyond a segment's bytes. */
    private void cut(Segment segment) {
        try {
            file.truncate(segment.bytes);
        } catch (IOException error) {
            sync.fail(SpoolException.failed("cut", file.path(), error));
        }
    }

    /**
     * Forgets settled events, before anybody is told: then they are not sent again. A segment goes
     * with its last one, and in others they are marked.
     */
    void release(List<SpoolMarks.Place> places) {
        // Whoever closed before has been told that they are not settled.
        if (isClosed) {
            return;
        }
        places.forEach(place -> segments.get(place.segment()).unsettled--);
        unsettled -= places.size();
        for (int start = 0, end; start < places.size(); start = end) {
            end = SpoolMarks.runEnd(places, start);
            long number = places.get(start).segment();
            Segment segment = segments.get(number);
            if (segment != null && segment.unsettled > 0) {
                marks.write(places.subList(start, end));
            } else if (segment != null) {
                end(number, segment);
            }
            marks.count(end - start);
        }
    }

    /** Empties or removes a segment without unsettled events. */
    private void end(long number, Segment segment) {
        if (number == last && file != null) {
            // A smaller one goes on, so that a slow sender does not make a file for each event.
            if (segment.bytes < Math.min(IDLE_BYTES, segmentBytes)) {
                empty(segment);
                return;
            }
            close(file);
            file = null;
        }
        remove(number);
    }

    private void empty(Segment segment) {
        bytes -= segment.cost();
        segment.bytes = SpoolRecords.MAGIC_BYTES;
        segment.events = 0;
        bytes += segment.cost();
        cut(segment);
        try {
            marks.remove(last);
        } catch (IOException error) {
            sync.fail(SpoolException.failed("empty", directory.path(last), error));
        }
    }

    private void close(SpoolFile settled) {
        try {
            settled.close();
        } catch (IOException error) {
            sync.fail(SpoolException.failed("close", settled.path(), error));
        }
    }

    private void remove(long number) {
        Segment segment = segments.remove(number);
        bytes -= segment == null ? 0 : segment.cost();
        try {
            directory.remove(number);
            marks.segmentRemoved(number);
        } catch (IOException error) {
            sync.fail(SpoolException.failed("remove", directory.path(number), error));
        }
    }

    /** Syncs and closes it. What is not settled stays for the next owner. */
    void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        sync.close();
        try {
            if (file != null) {
                endSegment();
            }
            if (segments.containsKey(last) && segments.get(last).unsettled == 0) {
                remove(last);
            }
            marks.sync();
            sync.check();
        } finally {
            unlock();
        }
    }

    private void unlock() {
        try {
            directory.close();
        } catch (IOException error) {
            throw SpoolException.failed("unlock", directory.path(), error);
        }
    }
}
