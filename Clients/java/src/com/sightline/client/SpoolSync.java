package com.sightline.client;

import java.io.IOException;

/** Syncs what is appended to a spool, on a thread of its own. */
final class SpoolSync {
    /** Appends within this time share a sync, unless `send` waits for it. */
    private static final long DELAY_MILLIS = 5;

    private final boolean isAwaited;
    private SpoolFile file;
    private long appended;
    private long synced;
    private SpoolException failure;
    private boolean isClosed;

    /** Creates it; `isAwaited` says whether sends wait until their events are durable. */
    SpoolSync(boolean isAwaited) {
        this.isAwaited = isAwaited;
    }

    /** Throws what has failed first: nobody knows what is durable after that. */
    synchronized void check() {
        if (failure != null) {
            throw failure;
        }
    }

    synchronized boolean hasFailed() {
        return failure != null;
    }

    /** Keeps the first failure. */
    synchronized void fail(SpoolException error) {
        failure = failure == null ? error : failure;
        notifyAll();
    }

    /** An event was appended to a file, and all in earlier files is durable. */
    synchronized void appended(SpoolFile to) {
        file = to;
        appended++;
        if (appended == synced + 1) {
            notifyAll();
        }
    }

    /** Waits until all that was appended is durable, where sends do. An interrupt waits too. */
    synchronized void await() {
        boolean wasInterrupted = false;
        long mark = appended;
        while (isAwaited && synced < mark && failure == null) {
            try {
                wait();
            } catch (InterruptedException interruption) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
        if (isAwaited && synced < mark) {
            throw failure;
        }
    }

    synchronized void close() {
        isClosed = true;
        notifyAll();
    }

    /** The thread; it ends when it is closed, or when anything has failed. */
    void run() {
        try {
            while (awaitWork()) {
                sync();
            }
        } catch (InterruptedException interruption) {
            fail(new SpoolException("interrupted", interruption));
        }
    }

    private synchronized boolean awaitWork() throws InterruptedException {
        while (appended == synced && !isClosed && failure == null) {
            wait();
        }
        if (appended > synced && !isAwaited && !isClosed) {
            wait(DELAY_MILLIS);
        }
        return appended > synced && failure == null;
    }

    private void sync() {
        SpoolFile last;
        long mark;
        synchronized (this) {
            last = file;
            mark = appended;
        }
        try {
            last.sync();
            synchronized (this) {
                synced = mark;
                notifyAll();
            }
        } catch (IOException error) {
            fail(SpoolException.failed("sync", last.path(), error));
        }
    }
}
