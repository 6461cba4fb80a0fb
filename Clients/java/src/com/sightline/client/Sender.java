package com.sightline.client;

import com.sightline.v1.EventResult;
import com.sightline.v1.StreamEventsRequest;
import com.sightline.v1.StreamEventsResponse;
import com.sightline.v1.TrackingEvent;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Opens streams and sends, on a thread of its own. One lock guards all of its state. */
final class Sender {
    /** How long the end of a stream, and the last callbacks, are waited for. */
    private static final Duration END = Duration.ofSeconds(5);

    private final Options options;
    private final Outbox outbox;
    private final SpooledEvents spool;
    private final ManagedChannel channel;
    private final ReentrantLock lock = new ReentrantLock();
    /** There may be something to send, or to open. */
    private final Condition work = lock.newCondition();
    /** There may be room, a verdict, or an end. */
    private final Condition progress = lock.newCondition();
    private final Results results;
    private final Thread thread = daemon(this::run, "sightline-sender");
    private EventStream stream;
    private long nextStream = System.nanoTime();
    private int failures;
    private int flushes;
    private boolean isClosing;
    private ClientException failure;
    private long streams;
    /** When the stream is given up unless something is heard of it, in nanoseconds; or null. */
    private Long deadline;

    Sender(Options options) {
        this.options = options;
        this.outbox = new Outbox(options);
        this.spool = SpooledEvents.open(options, outbox);
        // The server allows 100 PINGs in 30 s. Without any, a dead link would never be noticed.
        this.channel = options.channel
                .keepAliveTime(options.silence.toNanos(), TimeUnit.NANOSECONDS)
                .keepAliveTimeout(options.keepaliveTimeout.toNanos(), TimeUnit.NANOSECONDS)
                .disableRetry().build();
        this.results = new Results(options.onResult);
    }

    static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    void start() {
        spool.start();
        thread.start();
    }

    // What callers use.

    Optional<CompletableFuture<EventResult>> add(TrackingEvent event, boolean waits)
            throws InterruptedException {
        Optional<CompletableFuture<EventResult>> ticket = take(event, waits);
        if (ticket.isPresent()) {
            spool.awaitSync();
        }
        return ticket;
    }

    private Optional<CompletableFuture<EventResult>> take(TrackingEvent event, boolean waits)
            throws InterruptedException {
        int bytes = Outbox.size(event);
        lock.lockInterruptibly();
        try {
            while (!isEnded() && !hasRoom(bytes)) {
                if (!waits) {
                    return Optional.empty();
                }
                if (results.isOwnThread()) {
                    throw new ClientException("full: no wait on the thread of results", null);
                }
                progress.await();
            }
            if (isEnded()) {
                throw failure != null ? failure : new ClientException("closed", null);
            }
            Outbox.Entry entry = outbox.add(event, spool.add(event), System.nanoTime());
            if (outbox.isFirst() || outbox.isFull()) {
                work.signal();
            }
            return Optional.of(entry.ticket());
        } finally {
            lock.unlock();
        }
    }

    private boolean isEnded() {
        return isClosing || failure != null;
    }

    /** Results that no callback has taken count too: a slow one slows the callers down. */
    private boolean hasRoom(int bytes) {
        return outbox.hasRoom(bytes) && spool.hasRoom(bytes)
                && results.undelivered() + outbox.pending() < options.maxPending
                && results.undeliveredBytes() + outbox.pendingBytes() < options.maxPendingBytes;
    }

    boolean flush(Duration timeout) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            flushes++;
            work.signal();
            List<Outbox.Entry> before = outbox.entries();
            long left = timeout.toNanos();
            while (left > 0 && failure == null && !areDone(before)) {
                left = progress.awaitNanos(left);
            }
            return failure == null && areDone(before);
        } finally {
            flushes--;
            lock.unlock();
        }
    }

    private static boolean areDone(List<Outbox.Entry> entries) {
        return entries.stream().allMatch(entry -> entry.ticket().isDone());
    }

    List<Outbox.Entry> entries() {
        lock.lock();
        try {
            return outbox.entries();
        } finally {
            lock.unlock();
        }
    }

    Stats stats() {
        lock.lock();
        try {
            return new Stats(outbox.pending(), outbox.pendingBytes(), results.verdicts(),
                    streams, outbox.resentRequests(), outbox.retriedEvents(),
                    spool.cutBytes());
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            isClosing = true;
            work.signal();
            awaitUntil(() -> outbox.pending() == 0 || failure != null, options.closeTimeout);
            if (stream != null) {
                stream.halfClose();
                awaitUntil(() -> stream == null, outbox.pending() == 0 ? END : Duration.ZERO);
            }
            fail(new ClientException("closed", null));
        } finally {
            lock.unlock();
        }
        channel.shutdownNow();
        results.close(END);
        lock.lock();
        try {
            spool.close();
        } finally {
            lock.unlock();
        }
    }

    private void awaitUntil(BooleanSupplier isMet, Duration timeout) {
        try {
            for (long left = timeout.toNanos(); left > 0 && !isMet.getAsBoolean();) {
                left = progress.awaitNanos(left);
            }
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
        }
    }

    // The thread.

    private void run() {
        lock.lock();
        try {
            while (failure == null) {
                if (stream == null) {
                    openStream();
                } else {
                    sendRequest();
                }
            }
        } catch (InterruptedException interruption) {
            fail(new ClientException("interrupted", interruption));
        } finally {
            lock.unlock();
        }
    }

    private void openStream() throws InterruptedException {
        long wait = nextStream - System.nanoTime();
        if (isClosing && outbox.pending() == 0) {
            work.await();
        } else if (wait > 0) {
            work.awaitNanos(wait);
        } else {
            // The caller's own code, which may take its time.
            lock.unlock();
            String token;
            try {
                token = options.token.get();
            } finally {
                lock.lock();
            }
            streams++;
            deadline = System.nanoTime() + options.answerTimeout.toNanos();
            stream = new EventStream(this);
            stream.open(channel, token);
        }
    }

    private void sendRequest() throws InterruptedException {
        long now = System.nanoTime();
        StreamEventsRequest request =
                stream.isOpen() ? outbox.next(now, isClosing || flushes > 0) : null;
        if (request != null) {
            if (deadline == null) {
                deadline = now + options.answerTimeout.toNanos();
            }
            stream.send(request);
            return;
        }
        long nanos = stream.isOpen() ? outbox.nanosUntilNext(now) : Long.MAX_VALUE;
        if (deadline != null) {
            if (deadline - now <= 0) {
                stream.cancel();
                ended(stream, Status.UNAVAILABLE.withDescription("no answer").asException());
                return;
            }
            nanos = Math.min(nanos, deadline - now);
        }
        if (nanos == Long.MAX_VALUE) {
            work.await();
        } else {
            work.awaitNanos(nanos);
        }
    }

    // What the stream tells.

    void answered(EventStream from, StreamEventsResponse answer) {
        lock.lock();
        try {
            if (from != stream) {
                return;
            }
            if (answer.hasLimits()) {
                outbox.streamBegan(answer.getLimits());
            }
            long now = System.nanoTime();
            List<Outbox.Verdicted> settled = outbox.settle(answer, now);
            if (!settled.isEmpty()) {
                failures = 0;
                spool.release(settled);
                results.tell(settled, () -> forget(settled));
            }
            if (answer.hasClosing()) {
                failures = 0;
                stream.halfClose();
                deadline = now + Outbox.nanos(answer.getClosing().getGrace()) + END.toNanos();
            } else if (stream.isOpen()) {
                deadline = outbox.isUnderWay() ? now + options.answerTimeout.toNanos() : null;
            }
            signal();
        } finally {
            lock.unlock();
        }
    }

    void ended(EventStream from, Throwable error) {
        lock.lock();
        try {
            if (from != stream) {
                return;
            }
            stream = null;
            outbox.streamEnded();
            Ending ending = new Ending(error);
            if (ending.isFinal()) {
                fail(ending.exception());
            } else {
                nextStream = System.nanoTime() + ending.nanosUntilNextStream(failures++);
            }
            signal();
        } finally {
            lock.unlock();
        }
    }

    private void signal() {
        work.signal();
        progress.signalAll();
    }

    /** Nothing more is sent: whoever waits is told, and the events stay in the outbox. */
    private void fail(ClientException cause) {
        if (failure == null) {
            failure = cause;
            results.fail(outbox.entries(), cause);
        }
        signal();
    }

    private void forget(List<Outbox.Verdicted> told) {
        lock.lock();
        try {
            results.forget(told);
            progress.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
