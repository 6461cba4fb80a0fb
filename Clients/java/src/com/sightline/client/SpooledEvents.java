package com.sightline.client;

import com.google.protobuf.InvalidProtocolBufferException;
import com.sightline.v1.TrackingEvent;
import java.util.List;
import java.util.stream.Collectors;

/** A client's events in its spool; without one it does nothing, and has room for all. */
final class SpooledEvents {
    /** Null where the client has none. */
    private final Spool spool;

    private SpooledEvents(Spool spool) {
        this.spool = spool;
    }

    /** Opens the spool of the options, and gives an outbox what an earlier owner left. */
    static SpooledEvents open(Options options, Outbox outbox) {
        if (options.spool == null) {
            return new SpooledEvents(null);
        }
        Spool spool = new Spool(options.spool, options.maxSpoolBytes, options.spoolSegmentBytes,
                options.syncSends);
        try {
            long now = System.nanoTime();
            for (Spool.Left left : spool.recover()) {
                outbox.add(TrackingEvent.parseFrom(left.event()), left.place(), now);
            }
            return new SpooledEvents(spool);
        } catch (RuntimeException error) {
            spool.close();
            throw error;
        } catch (InvalidProtocolBufferException error) {
            spool.close();
            throw SpoolException.failed("take the events of", options.spool, error);
        }
    }

    /** Whether events outlive the client. */
    boolean isKept() {
        return spool != null;
    }

    /** Syncs from now on; `onEnd` runs once nothing is synced any more. */
    void start(Runnable onEnd) {
        if (spool != null) {
            Sender.daemon(() -> {
                spool.run();
                onEnd.run();
            }, "sightline-spool").start();
        }
    }

    boolean hasRoom(int eventBytes) {
        return spool == null || spool.hasRoom(eventBytes);
    }

    /** Writes an event; its place, or null. */
    SpoolMarks.Place add(TrackingEvent event) {
        return spool == null ? null : spool.append(event.toByteArray());
    }

    /** Waits until what was added is durable, where sends do. Called without the owner's lock. */
    void awaitSync() {
        if (spool != null) {
            spool.awaitSync();
        }
    }

    void release(List<Outbox.Verdicted> settled) {
        if (spool != null) {
            spool.release(settled.stream().map(one -> one.entry().place())
                    .collect(Collectors.toList()));
        }
    }

    long cutBytes() {
        return spool == null ? 0 : spool.cutBytes();
    }

    void close() {
        if (spool != null) {
            spool.close();
        }
    }
}
