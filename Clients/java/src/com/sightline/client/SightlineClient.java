package com.sightline.client;

import com.sightline.v1.EventResult;
import com.sightline.v1.TrackingEvent;
import io.grpc.ManagedChannelBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * Sends tracking events, and keeps each until the server has given its final verdict: through
 * restarts, drains and cut connections. Safe to use from many threads.
 */
public final class SightlineClient implements AutoCloseable {
    /** The library's version. */
    public static final String VERSION = "0.1.0";
    /**
     * The most bytes of an event that fit into a request, which never has more than 512 KiB. The
     * server's own limit may be less, 16 KiB by default: a larger event gets REJECTED.
     */
    public static final int MAX_EVENT_BYTES = (512 << 10) - 20;

    private final Sender sender;

    SightlineClient(Options options) {
        this.sender = new Sender(options);
        sender.start();
    }

    /**
     * Settings of a client of a server, such as `sightline.example:443`, with TLS.
     *
     * @throws IllegalArgumentException if the target is an address of the web
     */
    public static Options builder(String target) {
        if (target.startsWith("http://") || target.startsWith("https://")) {
            throw new IllegalArgumentException("target: \"" + target + "\" is an address of the"
                    + " web; write HOST:PORT, such as sightline.example:443, which has TLS unless"
                    + " plaintext() is called");
        }
        return builder(ManagedChannelBuilder.forTarget(target));
    }

    /** The same with a channel of the caller's own making: its roots, certificate, proxy. */
    public static Options builder(ManagedChannelBuilder<?> channel) {
        return new Options(channel);
    }

    /**
     * Takes an event, and waits while the client is full; with a spool, until it is written.
     *
     * @return the final result: accepted, suppressed, duplicate or rejected. It fails with
     *     ClientException if the client ends before; {@link #unacknowledged} has the event then.
     * @throws IllegalArgumentException if the event exceeds {@link #MAX_EVENT_BYTES}
     * @throws ClientException if the client is closed or has failed, or, on the thread of results,
     *     while it is full
     * @throws SpoolException if the spool cannot be written
     */
    public CompletableFuture<EventResult> send(TrackingEvent event) throws InterruptedException {
        check(event);
        return sender.send(event);
    }

    /** The same, or nothing while the client is full. */
    public Optional<CompletableFuture<EventResult>> trySend(TrackingEvent event) {
        check(event);
        return sender.trySend(event);
    }

    private static void check(TrackingEvent event) {
        int bytes = event.getSerializedSize();
        if (bytes > MAX_EVENT_BYTES) {
            throw new IllegalArgumentException(
                    "event: " + bytes + " bytes, the limit is " + MAX_EVENT_BYTES);
        }
    }

    /**
     * Sends what waits, and waits until all that was sent before has its final verdict.
     *
     * @return whether that was so in time; what is pending is sent on in either case, and {@link
     *     Stats#lastFailure} says what it waits for
     * @throws ClientException if the client has ended before
     */
    public boolean flush(Duration timeout) throws InterruptedException {
        return sender.flush(timeout);
    }

    /** The events without a final verdict, in the order of sending; after close too. */
    public List<TrackingEvent> unacknowledged() {
        return sender.entries().stream().map(Outbox.Entry::event).collect(Collectors.toList());
    }

    /** What the client has done, and holds now. */
    public Stats stats() {
        return sender.stats();
    }

    /**
     * Takes no more, flushes for at most `closeTimeout`, half-closes the stream and reads its end.
     * What has no verdict stays in {@link #unacknowledged}, and in the spool. May be called again.
     * A process that ends without it flushes for at most 10 s, and says on standard error what it
     * loses.
     *
     * @throws ClientException if events have no verdict, and no spool keeps them: how many and why
     * @throws SpoolException if the spool could not be synced
     */
    @Override
    public void close() {
        sender.close();
    }
}
