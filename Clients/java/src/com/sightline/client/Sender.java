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
    /** How long the end of a process waits for verdicts: no longer than a person does. */
    private static final Duration EXIT = Duration.ofSeconds(10);

    private final Options options;
    private final ClientState state;
    private final Streams streams;
    private final Thread exit = new Thread(() -> exit(EXIT), "sightline-exit");

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
        // Who waits for room in a spool that has failed is to get its error.
        state.spool.start(state::wake);
        daemon(streams::run, "sightline-sender").start();
        try {
            Runtime.getRuntime().addShutdownHook(exit);
        } catch (IllegalStateException ending) {
            // The process ends already: whoever makes a client then closes it.
        }
    }

    /**
     * The process ends, and nobody has closed the client: others may still send. The thread of a
     * close that still waits ends with the process, and tells of nothing.
     */
    void exit(Duration longest) {
        try {
            flush(options.closeTimeout.compareTo(longest) < 0 ? options.closeTimeout : longest);
        } catch (ClientException | InterruptedException failed) {
            // It is told below.
        }
        state.lock.lock();
        try {
            boolean isClosed = state.isClosing && state.failure != null;
            if (!isClosed && !state.spool.isKept() && state.outbox.pending() > 0) {
                // Loggers end at the same time, and may lose it.
                System.err.println("sightline: the process ends without close(): "
                        + state.exception(state.outbox.pending()
                                + " events have no verdict, and are lost").getMessage());
            }
        } finally {
            state.lock.unlock();
        }
    }

    private void forgetExit() {
        try {
            Runtime.getRuntime().removeShutdownHook(exit);
        } catch (IllegalStateException ending) {
            // It waits for the same events.
        }
    }

    CompletableFuture<EventResult> send(TrackingEvent event) throws InterruptedException {
        int bytes = Outbox.size(event);
        CompletableFuture<EventResult> ticket;
        state.lock.lockInterruptibly();
        try {
            while (state.isFull(bytes)) {
                if (state.results.isOwnThread()) {
                    throw state.exception("full: no wait on the thread of results");
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
            throw state.failure != null ? state.failure : state.exception("closed");
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
            if (state.failure != null && state.outbox.pending() > 0) {
                throw state.failure;
            }
            return areDone(before);
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
                    state.spool.cutBytes(), state.lastFailure);
        } finally {
            state.lock.unlock();
        }
    }

    void close() {
        boolean isFirst;
        ClientException loss = null;
        state.lock.lock();
        try {
            isFirst = !state.isClosing;
            state.isClosing = true;
            state.work.signal();
            awaitUntil(() -> state.outbox.pending() == 0 || state.failure != null,
                    options.closeTimeout);
            streams.halfClose();
            awaitUntil(streams::isBetweenStreams,
                    state.outbox.pending() == 0 ? END : Duration.ZERO);
            if (state.outbox.pending() > 0) {
                loss = state.exception("closed: " + state.outbox.pending()
                        + " events have no verdict; unacknowledged() has them");
            }
            state.fail(loss == null ? state.exception("closed") : loss);
        } finally {
            state.lock.unlock();
        }
        forgetExit();
        streams.shutdown();
        state.results.close(END);
        state.lock.lock();
        try {
            state.spool.close();
        } finally {
            state.lock.unlock();
        }
        // Only once: a block's end closes again what its body has closed.
        if (isFirst && loss != null && !state.spool.isKept()) {
            throw loss;
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
