package com.sightline.client;

import com.google.protobuf.Duration;
import com.sightline.v1.EventResult;
import com.sightline.v1.StreamEventsRequest;
import com.sightline.v1.StreamEventsResponse;
import com.sightline.v1.StreamLimits;
import com.sightline.v1.TrackingEvent;
import com.sightline.v1.Verdict;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The events that have no final verdict yet, as requests and as what waits to be in one. A value
 * without threads and clocks: times are nanoseconds that the caller gives.
 */
final class Outbox {
    /** An event of the caller's, and what tells its verdict. */
    record Entry(TrackingEvent event, int bytes, long arrival,
            CompletableFuture<EventResult> ticket) { }

    /** An event with its final verdict. */
    record Verdicted(Entry entry, EventResult result) { }

    private record Request(StreamEventsRequest message, List<Entry> entries) { }

    private final Options options;
    private int maxEvents;
    private int maxBytes;
    private int window;
    /** Requests of an earlier stream that this one has not sent yet, before those that it has. */
    private final ArrayDeque<Request> again = new ArrayDeque<>();
    private final ArrayDeque<Request> underWay = new ArrayDeque<>();
    private final ArrayDeque<Entry> waiting = new ArrayDeque<>();
    private final Map<Long, List<EventResult>> results = new HashMap<>();
    private long waitingBytes;
    private long pendingBytes;
    private int pending;
    private long lastSequence;
    private long pauseEnd = Long.MIN_VALUE;

    Outbox(Options options) {
        this.options = options;
        this.maxEvents = options.batchEvents;
        this.maxBytes = options.batchBytes;
        this.window = options.requestsUnderWay;
    }

    int pending() {
        return pending;
    }

    long pendingBytes() {
        return pendingBytes;
    }

    /** Whether an event of so many bytes may be added. A single one may have any size. */
    boolean hasRoom(int bytes) {
        return pending == 0 || pending < options.maxPending
                && pendingBytes + bytes <= options.maxPendingBytes;
    }

    Entry add(TrackingEvent event, long now) {
        Entry entry = new Entry(event, event.getSerializedSize(), now, new CompletableFuture<>());
        waiting.addLast(entry);
        waitingBytes += entry.bytes();
        pendingBytes += entry.bytes();
        pending++;
        return entry;
    }

    /** What the server allows tightens what the options say. */
    void take(StreamLimits limits) {
        maxEvents = Math.min(options.batchEvents, limits.getMaxEvents());
        // A request has its sequence and a few bytes for each event besides.
        maxBytes = Math.min(options.batchBytes, limits.getMaxRequestBytes() * 7 / 8);
        window = Math.min(options.requestsUnderWay, limits.getMaxUnacknowledgedRequests());
    }

    /** The next request to send now, or null. */
    StreamEventsRequest next(long now, boolean isFlushing) {
        if (underWay.size() >= window) {
            return null;
        }
        Request request = again.isEmpty() ? batch(now, isFlushing) : again.removeFirst();
        if (request == null) {
            return null;
        }
        underWay.addLast(request);
        return request.message();
    }

    /** Whether one event waits, the first of a request. */
    boolean isFirst() {
        return waiting.size() == 1;
    }

    /** Whether what waits fills a request, so that it need not linger. */
    boolean isFull() {
        return waiting.size() >= maxEvents || waitingBytes >= maxBytes;
    }

    /** Nanoseconds until `next` may have one without anything else happening. */
    long nanosUntilNext(long now) {
        if (waiting.isEmpty() || underWay.size() >= window) {
            return Long.MAX_VALUE;
        }
        return Math.max(waiting.peekFirst().arrival() + options.linger.toNanos() - now,
                pauseEnd == Long.MIN_VALUE ? Long.MIN_VALUE : pauseEnd - now);
    }

    private Request batch(long now, boolean isFlushing) {
        boolean isPaused = pauseEnd != Long.MIN_VALUE && now - pauseEnd < 0;
        if (waiting.isEmpty() || isPaused) {
            return null;
        }
        boolean isDue = now - waiting.peekFirst().arrival() >= options.linger.toNanos();
        if (!isFull() && !isDue && !isFlushing) {
            return null;
        }
        List<Entry> entries = new ArrayList<>();
        StreamEventsRequest.Builder message = StreamEventsRequest.newBuilder();
        long bytes = 0;
        while (!waiting.isEmpty() && entries.size() < maxEvents
                && (entries.isEmpty() || bytes + waiting.peekFirst().bytes() <= maxBytes)) {
            Entry entry = waiting.removeFirst();
            bytes += entry.bytes();
            entries.add(entry);
            message.addEvents(entry.event());
        }
        waitingBytes -= bytes;
        lastSequence++;
        message.setSequence(lastSequence).getOptionsBuilder()
                .setReportAccepted(options.reportAccepted);
        return new Request(message.build(), entries);
    }

    /** Takes an answer; returns the events that have their final verdict by it. */
    List<Verdicted> settle(StreamEventsResponse answer, long now) {
        for (EventResult result : answer.getResultsList()) {
            results.computeIfAbsent(result.getSequence(), key -> new ArrayList<>()).add(result);
        }
        List<Verdicted> settled = new ArrayList<>();
        List<Entry> later = new ArrayList<>();
        while (!underWay.isEmpty() && Long.compareUnsigned(
                underWay.peekFirst().message().getSequence(), answer.getDurableSequence()) <= 0) {
            settle(underWay.removeFirst(), settled, later);
        }
        if (!later.isEmpty()) {
            pauseEnd = now + nanos(answer.getRetryDelay());
            for (int index = later.size() - 1; index >= 0; index--) {
                waiting.addFirst(later.get(index));
                waitingBytes += later.get(index).bytes();
            }
        }
        for (Verdicted verdicted : settled) {
            pendingBytes -= verdicted.entry().bytes();
            pending--;
        }
        return settled;
    }

    private void settle(Request request, List<Verdicted> settled, List<Entry> later) {
        long sequence = request.message().getSequence();
        List<EventResult> told = results.remove(sequence);
        EventResult[] own = new EventResult[request.entries().size()];
        EventResult whole = null;
        for (EventResult result : told == null ? List.<EventResult>of() : told) {
            if (!result.hasIndex()) {
                whole = result;
            } else if (result.getIndex() >= 0 && result.getIndex() < own.length) {
                own[result.getIndex()] = result;
            }
        }
        for (int index = 0; index < own.length; index++) {
            Entry entry = request.entries().get(index);
            EventResult result = own[index] == null ? whole : own[index];
            if (result == null) {
                result = accepted(entry, sequence, index);
            }
            if (result.getVerdict() == Verdict.VERDICT_RETRY_LATER) {
                later.add(entry);
            } else {
                settled.add(new Verdicted(entry, result));
            }
        }
    }

    private static EventResult accepted(Entry entry, long sequence, int index) {
        return EventResult.newBuilder().setSequence(sequence).setIndex(index)
                .setEventId(entry.event().getEventId())
                .setVerdict(Verdict.VERDICT_ACCEPTED).build();
    }

    static long nanos(Duration duration) {
        return duration.getSeconds() * 1_000_000_000L + duration.getNanos();
    }

    /** The stream has ended: what it did not acknowledge goes first into the next one. */
    int streamEnded() {
        int count = underWay.size();
        while (!underWay.isEmpty()) {
            again.addFirst(underWay.removeLast());
        }
        results.clear();
        return count;
    }

    /** All entries without a final verdict, in the order in which they were added. */
    List<Entry> entries() {
        List<Entry> all = new ArrayList<>();
        underWay.forEach(request -> all.addAll(request.entries()));
        again.forEach(request -> all.addAll(request.entries()));
        all.addAll(waiting);
        return all;
    }
}
