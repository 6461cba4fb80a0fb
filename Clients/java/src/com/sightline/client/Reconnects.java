package com.sightline.client;

/**
 * When the next stream may begin. A value without a clock: times are nanoseconds that the caller
 * gives. Its owner calls it under a lock.
 */
final class Reconnects {
    private long next;
    private long began;
    private int failures;
    private boolean isTold;
    /** When a failure may be told of next. */
    private long nextTelling;

    /** The first stream may begin now. */
    Reconnects(long now) {
        next = now;
        nextTelling = now;
    }

    long nanosUntilNext(long now) {
        return next - now;
    }

    void began(long now) {
        began = now;
    }

    /** The server works: the next failure is a first one. */
    void settled() {
        failures = 0;
        isTold = false;
    }

    /** Whether to tell of a failure: once in a row of them, and once in 30 s. */
    boolean isNews(long now) {
        if (isTold || now - nextTelling < 0) {
            return false;
        }
        isTold = true;
        nextTelling = now + Ending.LONGEST_WAIT;
        return true;
    }

    /**
     * The end of a stream, a regular one too. With a token that is about to expire each stream is
     * closed at once, and settles nothing.
     */
    void ended(Ending ending, long now) {
        // An idle stream that ends at its age is no failure.
        if (now - began >= Ending.LONGEST_WAIT) {
            failures = 0;
        }
        next = now + ending.nanosUntilNextStream(failures);
        failures++;
    }
}
