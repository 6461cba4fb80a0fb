package com.sightline.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

/**
 * A random history of the Java client's spool: FOLDER SEED. Whatever is appended, released and
 * interrupted, the next owner finds what was not released, and the files keep to their bytes.
 */
public final class SpoolHistory {
    private static final int OWNERS = 8;
    private static final int EVENTS = 300;

    private final Path folder;
    private final Random dice;
    private final Map<String, Long> kept = new HashMap<>();

    private SpoolHistory(Path folder, long seed) {
        this.folder = folder;
        this.dice = new Random(seed);
    }

    public static void main(String[] words) throws IOException {
        SpoolHistory history = new SpoolHistory(Path.of(words[0]), Long.parseLong(words[1]));
        for (int owner = 0; owner < OWNERS; owner++) {
            history.own(owner);
        }
        history.settle();
        history.empty();
        history.settle();
        history.fill();
    }

    private Spool open(long maxBytes, long segmentBytes) {
        return new Spool(folder, maxBytes, segmentBytes, false);
    }

    private void own(int owner) throws IOException {
        Spool spool = open(1 << 20, 1 + dice.nextInt(400));
        recover(spool);
        for (int number = 0; number < EVENTS; number++) {
            String event = owner + " " + number + "x".repeat(dice.nextInt(80));
            // Of whoever sends: it has to stay, and to close no file.
            boolean isInterrupted = dice.nextInt(4) == 0;
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
            kept.put(event, spool.append(event.getBytes(StandardCharsets.UTF_8)));
            check(Thread.interrupted() == isInterrupted, "an interrupt stays");
            while (!kept.isEmpty() && dice.nextBoolean()) {
                List<String> events = new ArrayList<>(kept.keySet());
                spool.release(kept.remove(events.get(dice.nextInt(events.size()))));
            }
        }
        spool.close();
    }

    private void recover(Spool spool) {
        Map<String, Long> found = new HashMap<>();
        for (Spool.Left left : spool.recover()) {
            found.put(new String(left.event(), StandardCharsets.UTF_8), left.segment());
        }
        check(found.keySet().containsAll(kept.keySet()), "what is not released is found");
        check(spool.cutBytes() == 0, "nothing is torn");
        kept.clear();
        kept.putAll(found);
    }

    private void settle() throws IOException {
        Spool spool = open(1 << 20, 4096);
        recover(spool);
        kept.values().forEach(spool::release);
        kept.clear();
        spool.close();
        check(fileBytes() == 0, "all files go");
    }

    /** What is settled is in no file, also while its owner lives: it may end without a close. */
    private void empty() throws IOException {
        Spool spool = open(1 << 20, 4096);
        check(spool.recover().isEmpty(), "nothing is left");
        for (int number = 0; number < 3; number++) {
            spool.release(spool.append(new byte[100]));
            check(fileBytes() == SpoolRecords.MAGIC_BYTES, "what is settled is cut");
        }
        spool.append("kept".getBytes(StandardCharsets.UTF_8));
        spool.close();
        kept.put("kept", 0L);
    }

    /** One byte beyond the limit has no room; once all is released there is room for it again. */
    private void fill() throws IOException {
        byte[] event = new byte[100];
        long most = 2 * SpoolRecords.MAGIC_BYTES + 5 * (SpoolRecords.HEAD_BYTES + event.length);
        Spool spool = open(most, 1 << 20);
        check(spool.recover().isEmpty(), "nothing is left");
        List<Long> segments = new ArrayList<>();
        while (spool.hasRoom(event.length)) {
            segments.add(spool.append(event));
        }
        check(!segments.isEmpty() && fileBytes() <= most, "the files keep to their bytes");
        segments.forEach(spool::release);
        check(spool.hasRoom(event.length), "released bytes come back");
        spool.append(event);
        check(fileBytes() <= most, "the files keep to their bytes");
        spool.close();
    }

    private long fileBytes() throws IOException {
        long bytes = 0;
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                bytes += Files.size(file);
            }
        }
        return bytes;
    }

    private static void check(boolean isTrue, String rule) {
        if (!isTrue) {
            throw new AssertionError(rule);
        }
    }
}
