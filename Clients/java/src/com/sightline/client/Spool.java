package com.sightline.client;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Events on disk until they are settled, so that the end of the process loses none. Its owner calls
 * it under a lock, {@link #awaitSync} apart.
 *
 * <p>A file is synced before the next one begins: a power cut can tear only the last one. A file
 * goes with its last event, or is emptied while it is written to; if a power cut undoes that, its
 * events come back as duplicates.
 */
final class Spool {
    /** An event that an earlier owner left, and the segment to release it from. */
    record Left(byte[] event, long segment) { }

    private record FoundSegment(long number, int bytes, SpoolRecords.Found found) { }

    private static final class Segment {
        private long bytes;
        private int unsettled;
    }

    /**
     * From this size on, the file that is written to goes with its last event, too. It is a block of
     * most file systems: of a larger file that is emptied a power cut may leave the first block empty
     * and old events behind it, which reads as damaged.
     */
    private static final long IDLE_BYTES = 4096;

    private final SpoolDirectory directory;
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
    }

    /** Syncs what is appended; the function of a thread. */
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
        List<Left> left = new ArrayList<>();
        for (FoundSegment one : all) {
            last = one.number();
            cutBytes += one.bytes() - one.found().end();
            if (one.found().events().isEmpty()) {
                remove(last);
                continue;
            }
            keep(one);
            one.found().events().forEach(event -> left.add(new Left(event, one.number())));
        }
        sync.check();
        return left;
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

    private void keep(FoundSegment one) {
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
        add(one.number(), found.end(), found.events().size());
    }

    private Segment add(long number, long size, int events) {
        Segment segment = new Segment();
        segments.put(number, segment);
        grow(segment, size, events);
        return segment;
    }

    private void grow(Segment segment, long size, int events) {
        segment.bytes += size;
        segment.unsettled += events;
        bytes += size;
        unsettled += events;
    }

    /** Whether an event fits now; one always does where nothing else is kept. */
    boolean hasRoom(int eventBytes) {
        return unsettled == 0 || bytes + needed(eventBytes) <= maxBytes;
    }

    private static long needed(int eventBytes) {
        return SpoolRecords.MAGIC_BYTES + SpoolRecords.HEAD_BYTES + eventBytes;
    }

    /** Writes an event; its segment, to be released there. Keeps none of it where this throws. */
    long append(byte[] event) {
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
        grow(segment, record.length, 1);
        sync.appended(file);
        return last;
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
        return add(last, SpoolRecords.MAGIC_BYTES, 0);
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

    /** Forgets a settled event. A segment goes with its last one. */
    void release(long number) {
        // Whoever closed before has been told that it is not settled.
        if (isClosed) {
            return;
        }
        Segment segment = segments.get(number);
        segment.unsettled--;
        unsettled--;
        if (segment.unsettled > 0) {
            return;
        }
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
        bytes -= segment.bytes - SpoolRecords.MAGIC_BYTES;
        segment.bytes = SpoolRecords.MAGIC_BYTES;
        cut(segment);
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
        bytes -= segment == null ? 0 : segment.bytes;
        try {
            directory.remove(number);
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
