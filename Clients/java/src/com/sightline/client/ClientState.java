package com.sightline.client;

import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What callers, the thread that sends, and gRPC's threads share. The lock guards all of it. */
final class ClientState {
    final ReentrantLock lock = new ReentrantLock();
    /** There may be something to send, or to open. */
    final Condition work = lock.newCondition();
    /** There may be room, a verdict, or an end. */
    final Condition progress = lock.newCondition();
    final Outbox outbox;
    final SpooledEvents spool;
    final Results results;
    int flushes;
    boolean isClosing;
    ClientException failure;
    /**
     * Why the last stream failed, or that the server answers RETRY_LATER alone; null before that, and
     * once events have verdicts again.
     */
    String lastFailure;
    private final Options options;

    ClientState(Options options) {
        this.options = options;
        this.outbox = new Outbox(options);
        this.spool = SpooledEvents.open(options, outbox);
        this.results = new Results(options.onResult);
    }

    boolean isEnded() {
        return isClosing || failure != null;
    }

    /** Whether an event has to wait for room. */
    boolean isFull(int bytes) {
        return !isEnded() && !hasRoom(bytes);
    }

    /** Results that no callback has taken count too: a slow one slows the callers down. */
    private boolean hasRoom(int bytes) {
        return outbox.hasRoom(bytes) && spool.hasRoom(bytes)
                && results.undelivered() + outbox.pending() < options.maxPending
                && results.undeliveredBytes() + outbox.pendingBytes() < options.maxPendingBytes;
    }

    /** An error with the last failure behind it. */
    ClientException exception(String what) {
        return new ClientException(
                lastFailure == null ? what : what + "; the last failure: " + lastFailure, failure);
    }

    void signal() {
        work.signal();
        progress.signalAll();
    }

    /** Lets whoever waits for room look again. Called without the lock. */
    void wake() {
        lock.lock();
        try {
            progress.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Nothing more is sent: whoever waits is told, and the events stay in the outbox. */
    void fail(ClientException cause) {
        if (failure == null) {
            failure = cause;
            results.fail(outbox.entries(), cause);
        }
        signal();
    }

    void forget(List<Outbox.Verdicted> told) {
        lock.lock();
        try {
            results.forget(told);
            progress.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
