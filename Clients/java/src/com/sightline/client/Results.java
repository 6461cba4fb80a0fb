package com.sightline.client;

import com.sightline.v1.EventResult;
import com.sightline.v1.Verdict;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Tells of verdicts in order, on a thread of its own, and counts them. Its owner calls it under a
 * lock.
 */
final class Results {
    private final Consumer<EventResult> onResult;
    private final ExecutorService executor;
    private final Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
    private Thread thread;
    private int undelivered;
    private long undeliveredBytes;

    Results(Consumer<EventResult> onResult) {
        this.onResult = onResult;
        this.executor = Executors.newSingleThreadExecutor(
                task -> thread = Sender.daemon(task, "sightline-results"));
    }

    /** Events with a verdict that no callback has taken yet. */
    int undelivered() {
        return undelivered;
    }

    /** Their bytes in requests. */
    long undeliveredBytes() {
        return undeliveredBytes;
    }

    Map<Verdict, Long> verdicts() {
        return new EnumMap<>(verdicts);
    }

    /** Whether the caller is a callback. */
    boolean isOwnThread() {
        return Thread.currentThread() == thread;
    }

    /** Tells of verdicts. `told` runs after that, and has to call {@link #forget} under the lock. */
    void tell(List<Outbox.Verdicted> settled, Runnable told) {
        settled.forEach(one -> verdicts.merge(one.result().getVerdict(), 1L, Long::sum));
        undelivered += settled.size();
        undeliveredBytes += bytes(settled);
        executor.execute(() -> {
            try {
                settled.forEach(this::tell);
            } finally {
                told.run();
            }
        });
    }

    /** Makes room again for what was told. */
    void forget(List<Outbox.Verdicted> told) {
        undelivered -= told.size();
        undeliveredBytes -= bytes(told);
    }

    private static int bytes(List<Outbox.Verdicted> verdicts) {
        return verdicts.stream().mapToInt(verdicted -> verdicted.entry().bytes()).sum();
    }

    private void tell(Outbox.Verdicted verdicted) {
        verdicted.entry().ticket().complete(verdicted.result());
        try {
            onResult.accept(verdicted.result());
        } catch (Throwable dropped) {
            // A callback's failure, an assertion's too, is its own: the next one gets its result.
        }
    }

    /** Tells that these events will have no verdict. */
    void fail(List<Outbox.Entry> entries, ClientException cause) {
        executor.execute(() -> entries.forEach(
                entry -> entry.ticket().completeExceptionally(cause)));
    }

    /** Waits for the last callbacks, unless it is called by one. Called without the lock. */
    void close(Duration timeout) {
        executor.shutdown();
        try {
            if (!isOwnThread()) {
                executor.awaitTermination(timeout.toNanos(), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
        }
    }
}
