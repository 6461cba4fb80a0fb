package com.sightline.client;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;

/** A file of a spool, to append to. It is no channel: an interrupt of `send` would close one. */
final class SpoolFile implements Closeable {
    private final Path path;
    private final RandomAccessFile file;
    private boolean isClosed;
    /** The first failure of a sync. The system tells of one once, and nothing is durable after it. */
    private IOException failure;

    /** Opens a file that exists. */
    SpoolFile(Path path) throws IOException {
        this.path = path;
        this.file = new RandomAccessFile(path.toFile(), "rw");
        file.seek(file.length());
    }

    Path path() {
        return path;
    }

    /** Writes all of it at the end; a part of it may stand there where this throws. */
    void append(byte[] bytes) throws IOException {
        file.write(bytes);
    }

    void truncate(long bytes) throws IOException {
        file.setLength(bytes);
        file.seek(bytes);
    }

    /** Returns once all that was written is durable, or the file is closed without a failure. */
    synchronized void sync() throws IOException {
        if (failure != null) {
            throw failure;
        }
        try {
            if (!isClosed) {
                file.getFD().sync();
            }
        } catch (IOException error) {
            failure = error;
            throw error;
        }
    }

    /** Waits for a sync under way. */
    @Override
    public synchronized void close() throws IOException {
        isClosed = true;
        file.close();
    }
}
