package com.sightline.client;

import com.sightline.v1.EventResult;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The settings of a client; the defaults are those of a service with a steady flow of events. */
public final class Options {
    final ManagedChannelBuilder<?> channel;
    Supplier<String> token = () -> "";
    Consumer<EventResult> onResult = result -> { };
    boolean reportAccepted;
    int batchEvents = 100;
    int batchBytes = 64 << 10;
    int requestsUnderWay = 16;
    Duration linger = Duration.ofMillis(5);
    int maxPending = 10_000;
    long maxPendingBytes = 8 << 20;
    /** Null where events are kept in memory alone. */
    Path spool;
    long maxSpoolBytes = 256 << 20;
    long spoolSegmentBytes = 4 << 20;
    boolean syncSends;
    Duration closeTimeout = Duration.ofSeconds(30);
    Duration silence = Duration.ofSeconds(20);
    Duration keepaliveTimeout = Duration.ofSeconds(10);
    Duration answerTimeout = Duration.ofMinutes(2);

    Options(ManagedChannelBuilder<?> channel) {
        this.channel = channel;
    }

    /** No TLS: for a server on this machine, or behind a proxy that has it. */
    public Options plaintext() {
        channel.usePlaintext();
        return this;
    }

    /**
     * An API key or a JWT. White space around it, such as the newline of a file, is left out.
     *
     * @throws IllegalArgumentException if it has other characters than a header may have
     */
    public Options token(String token) {
        String checked = checkedToken(token);
        return token(() -> checked);
    }

    /** The same, asked for each stream, so that it may change. */
    public Options token(Supplier<String> token) {
        this.token = token;
        return this;
    }

    /** A token as a header has it: gRPC would send one with a newline, and wait for ever. */
    static String checkedToken(String token) {
        String checked = token.strip();
        if (!checked.chars().allMatch(letter -> letter > 0x20 && letter < 0x7f)) {
            throw new IllegalArgumentException("token: has white space within it, or characters"
                    + " that are not ASCII; it has to be one key or token as it was given out");
        }
        return checked;
    }

    /**
     * Is called with each final result, in order, on a thread of its own. It should not block; what
     * it throws is dropped. A `send` from it never waits: it throws while the client is full.
     */
    public Options onResult(Consumer<EventResult> onResult) {
        this.onResult = onResult;
        return this;
    }

    /** Whether accepted events have their hits and warnings in their result; false by default. */
    public Options reportAccepted(boolean value) {
        this.reportAccepted = value;
        return this;
    }

    /** Events and bytes of a request, 100 and 64 KiB; the server's limits tighten them. */
    public Options batch(int events, int bytes) {
        this.batchEvents = positive(events, "batch events");
        this.batchBytes = positive(bytes, "batch bytes");
        return this;
    }

    /** Requests of a stream that may be under way, 16; the server's limit tightens it. */
    public Options requestsUnderWay(int value) {
        this.requestsUnderWay = positive(value, "requests under way");
        return this;
    }

    /** How long an event may wait for others to fill a request, 5 ms. */
    public Options linger(Duration value) {
        this.linger = value;
        return this;
    }

    /** Events and bytes that the client holds, 10,000 and 8 MiB; beyond them `send` waits. */
    public Options maxPending(int events, long bytes) {
        this.maxPending = positive(events, "pending events");
        this.maxPendingBytes = positive(bytes, "pending bytes");
        return this;
    }

    /**
     * A directory for this client alone, made where it does not exist: events stand there until
     * they are settled, so that not even the end of the process loses one. The client's `build`
     * takes what an earlier one left, and throws SpoolException.
     */
    public Options spool(Path directory) {
        this.spool = directory;
        return this;
    }

    /** Bytes of all of a spool's files, 256 MiB, beyond which `send` waits; and of one, 4 MiB. */
    public Options spoolBytes(long all, long segment) {
        this.maxSpoolBytes = positive(all, "spool bytes");
        this.spoolSegmentBytes = positive(segment, "segment bytes");
        return this;
    }

    /**
     * Whether `send` returns only after its event is synced; false by default: then a power cut may
     * take the last milliseconds. A crash of the process takes nothing in either case.
     */
    public Options syncSends(boolean value) {
        this.syncSends = value;
        return this;
    }

    /** How long `close` waits for what is pending, 30 s; the end of the process, 10 s at most. */
    public Options closeTimeout(Duration value) {
        this.closeTimeout = value;
        return this;
    }

    /** How long a link may be silent before a PING, 20 s, and how long its answer may take, 10 s. */
    public Options keepalive(Duration silence, Duration timeout) {
        this.silence = silence;
        this.keepaliveTimeout = timeout;
        return this;
    }

    /** How long requests may be under way without an answer before the stream is given up, 2 min. */
    public Options answerTimeout(Duration value) {
        this.answerTimeout = value;
        return this;
    }

    /**
     * A client, which connects at once.
     *
     * @throws SpoolException if the spool belongs to another client, is damaged or unreadable
     */
    public SightlineClient build() {
        return new SightlineClient(this);
    }

    ManagedChannel openChannel() {
        // The server allows 100 PINGs in 30 s. Without any, a dead link would never be noticed.
        return channel.keepAliveTime(silence.toNanos(), TimeUnit.NANOSECONDS)
                .keepAliveTimeout(keepaliveTimeout.toNanos(), TimeUnit.NANOSECONDS)
                // An answer over the default of 4 MiB would end each stream with the same events.
                .maxInboundMessageSize(Integer.MAX_VALUE)
                .disableRetry().build();
    }

    private static <N extends Number> N positive(N value, String name) {
        if (value.longValue() < 1) {
            throw new IllegalArgumentException(name + ": " + value + ", must be at least 1");
        }
        return value;
    }
}
