package com.sightline.client;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A spool's files, which are named by numbers, and the lock of their directory. */
final class SpoolDirectory {
    private static final String SUFFIX = ".spool";
    /** A file of another name, such as somebody's copy, is not the spool's. */
    private static final Pattern NAME = Pattern.compile("[0-9a-f]{16}\\" + SUFFIX);
    private static final String MARKS_SUFFIX = ".settled";
    private static final Pattern MARKS_NAME = Pattern.compile("[0-9a-f]{16}\\" + MARKS_SUFFIX);
    private static final FileAttribute<?> MODE = PosixFilePermissions.asFileAttribute(
            PosixFilePermissions.fromString("rw-------"));
    /**
     * The directories of this process. The system does not tell its clients apart: closing any other
     * channel of a lock's file would release the lock.
     */
    private static final Set<Path> OWNED = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel lock;

    private SpoolDirectory(Path path, FileChannel lock) {
        this.path = path;
        this.lock = lock;
    }

    /** Makes or opens a directory, and locks it until it is closed. */
    static SpoolDirectory open(Path path) {
        try {
            Files.createDirectories(path);
            Path real = path.toRealPath();
            if (!OWNED.add(real)) {
                throw new SpoolException.Locked(path);
            }
            FileChannel lock = null;
            try {
                lock = create(path.resolve("lock"));
                if (lock.tryLock() == null) {
                    throw new SpoolException.Locked(path);
                }
                return new SpoolDirectory(real, lock);
            } catch (IOException | RuntimeException error) {
                if (lock != null) {
                    lock.close();
                }
                OWNED.remove(real);
                throw error;
            }
        } catch (IOException error) {
            throw SpoolException.failed("open", path, error);
        }
    }

    private static FileChannel create(Path path, OpenOption... more) throws IOException {
        Set<OpenOption> options = Stream.concat(Stream.of(more), Stream.of(
                StandardOpenOption.CREATE, StandardOpenOption.WRITE)).collect(Collectors.toSet());
        return FileChannel.open(path, options, MODE);
    }

    /** The numbers of the segments, in order. */
    List<Long> segments() throws IOException {
        return numbers(NAME);
    }

    /** The numbers of the segments whose marks there are, in order. */
    List<Long> marks() throws IOException {
        return numbers(MARKS_NAME);
    }

    private List<Long> numbers(Pattern pattern) throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> pattern.matcher(name).matches())
                    .map(name -> name.substring(0, name.indexOf('.')))
                    .map(number -> Long.parseUnsignedLong(number, 16))
                    .sorted(Long::compareUnsigned).collect(Collectors.toList());
        }
    }

    Path path() {
        return path;
    }

    Path path(long segment) {
        return path.resolve(String.format("%016x%s", segment, SUFFIX));
    }

    byte[] contents(long segment) throws IOException {
        return Files.readAllBytes(path(segment));
    }

    /** Makes a file with these bytes alone, and syncs its name. */
    SpoolFile create(long segment, byte[] start) throws IOException {
        boolean wasInterrupted = Thread.interrupted();
        while (true) {
            try (FileChannel file = create(path(segment), StandardOpenOption.TRUNCATE_EXISTING)) {
                for (ByteBuffer left = ByteBuffer.wrap(start); left.hasRemaining();) {
                    file.write(left);
                }
                syncNames();
                break;
            } catch (ClosedByInterruptException interruption) {
                // Of `send`, whose event is to be taken.
                wasInterrupted = Thread.interrupted();
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
        return new SpoolFile(path(segment));
    }

    /** Makes durable which files there are. */
    void syncNames() throws IOException {
        boolean wasInterrupted = Thread.interrupted();
        while (true) {
            try (FileChannel names = FileChannel.open(path, StandardOpenOption.READ)) {
                names.force(true);
                break;
            } catch (ClosedByInterruptException interruption) {
                wasInterrupted = Thread.interrupted();
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    void remove(long segment) throws IOException {
        Files.delete(path(segment));
    }

    private Path marksPath(long segment) {
        return path.resolve(String.format("%016x%s", segment, MARKS_SUFFIX));
    }

    byte[] contentsOfMarks(long segment) throws IOException {
        return Files.readAllBytes(marksPath(segment));
    }

    /** Writes marks at a byte of their file, which begins with a magic. */
    void mark(long segment, byte[] magic, long place, byte[] marks) throws IOException {
        Path to = marksPath(segment);
        if (Files.notExists(to)) {
            Files.createFile(to, MODE);
        }
        // No channel, which an interrupt would close.
        try (RandomAccessFile file = new RandomAccessFile(to.toFile(), "rw")) {
            if (file.length() < magic.length) {
                file.write(magic);
            }
            file.seek(place);
            file.write(marks);
        }
    }

    void syncMarks(long segment) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(marksPath(segment).toFile(), "r")) {
            file.getFD().sync();
        }
    }

    void removeMarks(long segment) throws IOException {
        Files.deleteIfExists(marksPath(segment));
    }

    /** Lets another client have it. */
    void close() throws IOException {
        try {
            lock.close();
        } finally {
            OWNED.remove(path);
        }
    }
}
