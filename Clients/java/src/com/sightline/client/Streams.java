package com.sightline.client;

import com.sightline.v1.StreamEventsRequest;
import com.sightline.v1.StreamEventsResponse;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.util.List;
import java.util.Objects;

/** Opens streams, one after another, and sends on them what the outbox has. */
final class Streams {
    private static final System.Logger LOGGER = System.getLogger("com.sightline.client");
    /** Of a server that settles nothing, though no stream ends. */
    private static final String REFUSES_ALL = "RETRY_LATER: the server takes no events now";

    private final Options options;
    private final ClientState state;
    private final ManagedChannel channel;
    private final Reconnects reconnects = new Reconnects(System.nanoTime());
    private EventStream stream;
    private long count;
    /** When the stream is given up unless something is heard of it, in nanoseconds; or null. */
    private Long deadline;
    /** What to log as soon as the lock is free: a log may block. */
    private String news;

    Streams(Options options, ClientState state) {
        this.options = options;
        this.state = state;
        this.channel = options.openChannel();
    }

    // What its owner calls, under the lock.

    long count() {
        return count;
    }

    boolean isBetweenStreams() {
        return stream == null;
    }

    void halfClose() {
        if (stream != null) {
            stream.halfClose();
        }
    }

    /** Ends what is open. Called without the lock. */
    void shutdown() {
        channel.shutdownNow();
    }

    /** The thread that opens and sends; it ends with the client. */
    void run() {
        state.lock.lock();
        try {
            while (state.failure == null) {
                tellNews();
                if (stream == null) {
                    openStream();
                } else {
                    sendRequest();
                }
            }
            tellNews();
        } catch (Throwable error) {
            state.lastFailure = error.toString();
            // Nobody sends any more: without this, callers would wait for ever.
            state.fail(new ClientException("the sender has failed: " + error, error));
            if (stream != null) {
                stream.cancel();
            }
        } finally {
            state.lock.unlock();
        }
    }

    private void tellNews() {
        if (news == null) {
            return;
        }
        String text = news;
        news = null;
        state.lock.unlock();
        try {
            LOGGER.log(System.Logger.Level.WARNING, text);
        } finally {
            state.lock.lock();
        }
    }

    private void openStream() throws InterruptedException {
        long wait = reconnects.nanosUntilNext(System.nanoTime());
        if (state.isClosing && state.outbox.pending() == 0) {
            state.work.await();
        } else if (wait > 0) {
            state.work.awaitNanos(wait);
        } else {
            reconnects.began(System.nanoTime());
            try {
                openStream(token());
            } catch (RuntimeException error) {
                // Such as a provider of tokens that is away: the next one may come.
                streamEnded(Status.UNKNOWN.withDescription("no stream").withCause(error)
                        .asException());
            }
        }
    }

    /** The caller's own code, which may take its time. */
    private String token() {
        state.lock.unlock();
        try {
            return Options.checkedToken(Objects.requireNonNull(options.token.get(), "token"));
        } finally {
            state.lock.lock();
        }
    }

    private void openStream(String token) {
        if (state.failure != null) {
            return;
        }
        count++;
        deadline = System.nanoTime() + options.answerTimeout.toNanos();
        stream = new EventStream(this);
        // Only our own waits count: the channel's would go on after the server is back.
        channel.resetConnectBackoff();
        stream.open(channel, token);
    }

    private void sendRequest() throws InterruptedException {
        long now = System.nanoTime();
        boolean isFlushing = state.isClosing || state.flushes > 0;
        StreamEventsRequest request =
                stream.isOpen() ? state.outbox.next(now, isFlushing) : null;
        if (request != null) {
            if (deadline == null) {
                deadline = now + options.answerTimeout.toNanos();
            }
            stream.send(request);
            return;
        }
        long nanos = stream.isOpen() ? state.outbox.nanosUntilNext(now) : Long.MAX_VALUE;
        if (deadline != null) {
            if (deadline - now <= 0) {
                stream.cancel();
                // A peer may have accepted the connection and never speak HTTP/2: the next stream
                // would wait for the same one.
                channel.enterIdle();
                ended(stream, Status.UNAVAILABLE.withDescription("no answer").asException());
                return;
            }
            nanos = Math.min(nanos, deadline - now);
        }
        if (nanos == Long.MAX_VALUE) {
            state.work.await();
        } else {
            state.work.awaitNanos(nanos);
        }
    }

    // What the stream tells.

    void answered(EventStream from, StreamEventsResponse answer) {
        state.lock.lock();
        try {
            // Whoever closed has been told that its events have no verdict.
            if (from != stream || state.failure != null) {
                return;
            }
            if (answer.hasLimits()) {
                state.outbox.streamBegan(answer.getLimits());
            }
            long now = System.nanoTime();
            long retried = state.outbox.retriedEvents();
            List<Outbox.Verdicted> settled = state.outbox.settle(answer, now);
            if (settled.isEmpty() && state.outbox.retriedEvents() > retried) {
                noteFailure(REFUSES_ALL, false, now);
            }
            if (!settled.isEmpty()) {
                reconnects.settled();
                state.lastFailure = null;
                state.spool.release(settled);
                state.results.tell(settled, () -> state.forget(settled));
            }
            if (answer.hasClosing()) {
                stream.halfClose();
                deadline = now + Outbox.nanos(answer.getClosing().getGrace())
                        + Sender.END.toNanos();
            } else if (stream.isOpen()) {
                deadline = state.outbox.isUnderWay()
                        ? now + options.answerTimeout.toNanos() : null;
            }
            state.signal();
        } finally {
            state.lock.unlock();
        }
    }

    void ended(EventStream from, Throwable error) {
        state.lock.lock();
        try {
            if (from == stream) {
                streamEnded(error);
            }
        } finally {
            state.lock.unlock();
        }
    }

    private void streamEnded(Throwable error) {
        stream = null;
        state.outbox.streamEnded();
        Ending ending = new Ending(error);
        long now = System.nanoTime();
        if (ending.reason() != null) {
            noteFailure(ending.reason(), ending.isFinal(), now);
        }
        if (ending.isFinal()) {
            state.fail(ending.exception());
        } else {
            reconnects.ended(ending, now);
        }
        state.signal();
    }

    private void noteFailure(String reason, boolean isFinal, long now) {
        state.lastFailure = reason;
        if (isFinal || reconnects.isNews(now)) {
            news = channel.authority() + ": " + reason + "; " + state.outbox.pending()
                    + " events have no verdict yet, and the client "
                    + (isFinal ? "has ended" : "tries again");
        }
    }
}
