package com.sightline.client;

import java.io.IOException;
import java.nio.file.Path;

/** A spool cannot be opened, or not be written. An event whose `send` throws this may be in it. */
public sealed class SpoolException extends RuntimeException {
    private static final long serialVersionUID = 1;

    SpoolException(String message, Throwable cause) {
        super(message, cause);
    }

    static SpoolException failed(String operation, Path file, IOException cause) {
        return new SpoolException(
                "the spool cannot " + operation + " " + file + ": " + cause.getMessage(), cause);
    }

    /** Another client has the directory. */
    public static final class Locked extends SpoolException {
        private static final long serialVersionUID = 1;

        Locked(Path directory) {
            super("the spool " + directory + " belongs to another client; each needs a directory"
                    + " of its own", null);
        }
    }

    /** A file that was synced cannot be read any more. No file was changed. */
    public static final class Damaged extends SpoolException {
        private static final long serialVersionUID = 1;
        private final String file;
        private final long offset;
        private final int events;

        Damaged(Path file, SpoolRecords.Found found) {
            super("the spool's file " + file + " is damaged at byte " + found.end() + ", behind "
                    + found.events().size() + " whole events: only the end of the last file may be"
                    + " torn. No file was changed. To go on, keep a copy of it and cut it at that"
                    + " byte, or move it away", null);
            this.file = file.toString();
            this.offset = found.end();
            this.events = found.events().size();
        }

        /** The damaged file. */
        public Path file() {
            return Path.of(file);
        }

        /** The byte at which the first record stands that is not whole. */
        public long offset() {
            return offset;
        }

        /** The whole events before it. */
        public int events() {
            return events;
        }
    }
}
