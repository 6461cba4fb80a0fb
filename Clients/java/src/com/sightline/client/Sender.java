package com.sightline.client;

import com.sightline.v1.EventResult;
import com.sightline.v1.TrackingEvent;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** What callers use: takes events, waits, and ends the streams that send them. */
final class Sender {
    /** How long the end of a stream, and the last callbacks, are waited for. */
    static final Duration END = Duration.ofSeconds(5);

    private final Options options;
    private final ClientState state;
    private final Streams streams;

    Sender(Options options) {
        this.options = options;
        this.state = new ClientState(options);
        try {
            this.streams = new Streams(options, state);
        } catch (RuntimeException error) {
            state.spool.close();
            throw error;
        }
    }

    static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    void start() {
        state.spool.start();
        daemon(streams::run, "sightline-sender").start();
    }

    CompletableFuture<EventResult> send(TrackingEvent event) throws InterruptedException {
        int bytes = Outbox.size(event);
        CompletableFuture<EventResult> ticket;
        state.lock.lockInterruptibly();
        try {
            while (state.isFull(bytes)) {
                if (state.results.isOwnThread()) {
                    throw new ClientException("full: no wait on the thread of results", null);
                }
                state.progress.await();
            }
            ticket = take(event);
        } finally {
            state.lock.unlock();
        }
        state.spool.awaitSync();
        return ticket;
    }

    /** The same, or nothing while the client is full. An interrupt stays. */
    Optional<CompletableFuture<EventResult>> trySend(TrackingEvent event) {
        Optional<CompletableFuture<EventResult>> ticket;
        state.lock.lock();
        try {
            if (state.isFull(Outbox.size(event))) {
                return Optional.empty();
            }
            ticket = Optional.of(take(event));
        } finally {
            state.lock.unlock();
        }
        state.spool.awaitSync();
        return ticket;
    }

    private CompletableFuture<EventResult> take(TrackingEvent event) {
        if (state.isEnded()) {
            throw state.failure != null ? state.failure : new ClientException("closed", null);
        }
        Outbox.Entry entry = state.outbox.add(event, state.spool.add(event), System.nanoTime());
        if (state.outbox.isFirst() || state.outbox.isFull()) {
            state.work.signal();
        }
        return entry.ticket();
    }

    boolean flush(Duration timeout) throws InterruptedException {
        state.lock.lockInterruptibly();
        try {
            state.flushes++;
            state.work.signal();
            List<Outbox.Entry> before = state.outbox.entries();
            long left = timeout.toNanos();
            while (left > 0 && state.failure == null && !areDone(before)) {
                left = state.progress.awaitNanos(left);
            }
            return state.failure == null && areDone(before);
        } finally {
            state.flushes--;
            state.lock.unlock();
        }
    }

    private static boolean areDone(List<Outbox.Entry> entries) {
        return entries.stream().allMatch(entry -> entry.ticket().isDone());
    }

    List<Outbox.Entry> entries() {
        state.lock.lock();
        try {
            return state.outbox.entries();
        } finally {
            state.lock.unlock();
        }
    }

    Stats stats() {
        state.lock.lock();
        try {
            Outbox outbox = state.outbox;
            return new Stats(outbox.pending(), outbox.pendingBytes(), state.results.verdicts(),
                    streams.count(), outbox.resentRequests(), outbox.retriedEvents(),
                    state.spool.cutBytes());
        } finally {
            state.lock.unlock();
        }
    }

    void close() {
        state.lock.lock();
        try {
            state.isClosing = true;
            state.work.signal();
            awaitUntil(() -> state.outbox.pending() == 0 || state.failure != null,
                    options.closeTimeout);
            streams.halfClose();
            awaitUntil(streams::isBetweenStreams,
                    state.outbox.pending() == 0 ? END : Duration.ZERO);
            state.fail(new ClientException("closed", null));
        } finally {
            state.lock.unlock();
        }
        streams.shutdown();
        state.results.close(END);
        state.lock.lock();
        try {
            state.spool.close();
        } finally {
            state.lock.unlock();
        }
    }

    private void awaitUntil(BooleanSupplier isMet, Duration timeout) {
        try {
            for (long left = timeout.toNanos(); left > 0 && !isMet.getAsBoolean();) {
                left = state.progress.awaitNanos(left);
            }
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
        }
    }
}
