package com.sightline.client;

import com.google.protobuf.CodedOutputStream;
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
import java.util.concurrent.ThreadLocalRandom;

/**
 * The events that have no final verdict yet, as requests and as what waits to be in one. A value
 * without threads and clocks: times are nanoseconds that the caller gives.
 */
final class Outbox {
    /** An event of the caller's, and what tells its verdict. */
    record Entry(TrackingEvent event, int bytes, SpoolMarks.Place place, long arrival,
            CompletableFuture<EventResult> ticket) { }

    /** An event with its final verdict. */
    record Verdicted(Entry entry, EventResult result) { }

    private record Request(StreamEventsRequest message, List<Entry> entries) { }

    /** The bytes of a request apart from its events: sequence (11) and options (4). */
    private static final int REQUEST_OVERHEAD = 16;
    /** However little the server asks for, and however much. */
    private static final long MIN_RETRY = 100_000_000L;
    private static final long MAX_RETRY = 30_000_000_000L;
    private static final long MAX_ASKED_SECONDS = 3600;

    private final Options options;
    private int maxEvents;
    private int maxBytes;
    /** None before the stream's first answer, which has the server's limits. */
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
    private long resentRequests;
    private long retriedEvents;

    Outbox(Options options) {
        this.options = options;
        this.maxEvents = options.batchEvents;
        this.maxBytes = options.batchBytes;
    }

    long resentRequests() {
        return resentRequests;
    }

    long retriedEvents() {
        return retriedEvents;
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

    /** Takes an event, and its place in a spool; null without one. */
    Entry add(TrackingEvent event, SpoolMarks.Place place, long now) {
        Entry entry = new Entry(event, size(event), place, now, new CompletableFuture<>());
        waiting.addLast(entry);
        waitingBytes += entry.bytes();
        pendingBytes += entry.bytes();
        pending++;
        return entry;
    }

    /** The bytes that an event adds to a request: itself, its tag and its length. */
    static int size(TrackingEvent event) {
        return CodedOutputStream.computeMessageSize(
                StreamEventsRequest.EVENTS_FIELD_NUMBER, event);
    }

    /** A stream's first answer: what the server allows tightens what the options say. */
    void streamBegan(StreamLimits limits) {
        maxEvents = stricter(options.batchEvents, limits.getMaxEvents());
        maxBytes = stricter(options.batchBytes, limits.getMaxRequestBytes());
        window = stricter(options.requestsUnderWay, limits.getMaxUnacknowledgedRequests());
        if (again.stream().anyMatch(this::exceeds)) {
            // Made under wider limits: their events go in smaller requests, in the same order.
            while (!again.isEmpty()) {
                putBack(again.removeLast().entries());
            }
        }
    }

    /** The smaller number; 0 says nothing. */
    private static int stricter(int own, int told) {
        return told == 0 || Integer.compareUnsigned(told, own) > 0 ? own : told;
    }

    private boolean exceeds(Request request) {
        return request.entries().size() > 1 && (request.entries().size() > maxEvents
                || request.message().getSerializedSize() > maxBytes);
    }

    private void putBack(List<Entry> entries) {
        for (int index = entries.size() - 1; index >= 0; index--) {
            waiting.addFirst(entries.get(index));
            waitingBytes += entries.get(index).bytes();
        }
    }

    /** The next request to send now, or null. */
    StreamEventsRequest next(long now, boolean isFlushing) {
        if (underWay.size() >= window) {
            return null;
        }
        Request request;
        if (again.isEmpty()) {
            request = batch(now, isFlushing);
        } else {
            request = again.removeFirst();
            resentRequests++;
        }
        if (request == null) {
            return null;
        }
        underWay.addLast(request);
        return request.message();
    }

    boolean isUnderWay() {
        return !underWay.isEmpty();
    }

    /** Whether one event waits, the first of a request. */
    boolean isFirst() {
        return waiting.size() == 1;
    }

    /** Whether what waits fills a request, so that it need not linger. */
    boolean isFull() {
        return waiting.size() >= maxEvents || waitingBytes >= maxBytes - REQUEST_OVERHEAD;
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
        int room = maxBytes - REQUEST_OVERHEAD;
        while (!waiting.isEmpty() && entries.size() < maxEvents
                && (entries.isEmpty() || bytes + waiting.peekFirst().bytes() <= room)) {
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
            if (isUnderWay(result.getSequence())) {
                results.computeIfAbsent(result.getSequence(), key -> new ArrayList<>())
                        .add(result);
            }
        }
        List<Verdicted> settled = new ArrayList<>();
        List<Entry> later = new ArrayList<>();
        while (!underWay.isEmpty() && Long.compareUnsigned(
                underWay.peekFirst().message().getSequence(), answer.getDurableSequence()) <= 0) {
            settle(underWay.removeFirst(), settled, later);
        }
        if (!later.isEmpty()) {
            long delay = Math.max(MIN_RETRY, Math.min(MAX_RETRY, nanos(answer.getRetryDelay())));
            // Up to half as long again, so that senders do not come back together.
            long end = now + delay + ThreadLocalRandom.current().nextLong(delay / 2);
            // A later answer does not shorten what an earlier one asks for.
            if (pauseEnd == Long.MIN_VALUE || end - pauseEnd > 0) {
                pauseEnd = end;
            }
            retriedEvents += later.size();
            putBack(later);
        }
        for (Verdicted verdicted : settled) {
            pendingBytes -= verdicted.entry().bytes();
            pending--;
        }
        return settled;
    }

    /** What is kept of an answer is bounded by what was sent. */
    private boolean isUnderWay(long sequence) {
        return !underWay.isEmpty()
                && Long.compareUnsigned(
                        underWay.peekFirst().message().getSequence(), sequence) <= 0
                && Long.compareUnsigned(
                        underWay.peekLast().message().getSequence(), sequence) >= 0;
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
            EventResult result = own[index];
            if (result == null && whole != null) {
                // It names no event, as it is for all of them.
                result = whole.toBuilder().setEventId(entry.event().getEventId()).build();
            } else if (result == null) {
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

    /** What a server asks for: none below 0, and none beyond an hour. */
    static long nanos(Duration duration) {
        long seconds = Math.max(0, Math.min(MAX_ASKED_SECONDS, duration.getSeconds()));
        return Math.max(0, seconds * 1_000_000_000L + duration.getNanos());
    }

    /** The stream has ended: what it did not acknowledge goes first into the next one. */
    void streamEnded() {
        while (!underWay.isEmpty()) {
            again.addFirst(underWay.removeLast());
        }
        results.clear();
        window = 0;
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
