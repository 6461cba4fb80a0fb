package com.sightline.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A random history of the Java client's spool: FOLDER SEED. Whatever is appended, released and
 * interrupted, the next owner finds what was not released and nothing else, also after a kill, and the
 * files keep to their bytes.
 */
public final class SpoolHistory {
    private static final int OWNERS = 8;
    private static final int EVENTS = 300;

    private final Path folder;
    private final Random dice;
    private final Map<String, SpoolMarks.Place> kept = new HashMap<>();

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
        // Three events, each in a file of its own, since a file has a quarter of all bytes.
        int most = 3 * (SpoolRecords.MAGIC_BYTES + SpoolMarks.MAGIC_BYTES + SpoolRecords.HEAD_BYTES
                + SpoolMarks.MARK_BYTES + 100);
        history.fill(most - 1, 2);
        history.fill(most, 3);
        history.kill();
        history.comeAgain();
        history.forge();
        history.missMarks();
        history.limit();
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
                spool.release(List.of(kept.remove(events.get(dice.nextInt(events.size())))));
            }
        }
        check(isLeft(List.copyOf(kept.keySet())), "a kill leaves what is not released");
        spool.close();
    }

    private void recover(Spool spool) {
        Map<String, SpoolMarks.Place> found = new HashMap<>();
        for (Spool.Left left : spool.recover()) {
            found.put(new String(left.event(), StandardCharsets.UTF_8), left.place());
        }
        check(found.keySet().equals(kept.keySet()), "what is not released is found");
        check(spool.cutBytes() == 0, "nothing is torn");
        kept.clear();
        kept.putAll(found);
    }

    private void settle() throws IOException {
        Spool spool = open(1 << 20, 4096);
        recover(spool);
        spool.release(List.copyOf(kept.values()));
        kept.clear();
        spool.close();
        check(fileBytes() == 0, "all files go");
    }

    /** What is settled is in no file, also while its owner lives: it may end without a close. */
    private void empty() throws IOException {
        Spool spool = open(1 << 20, 4096);
        check(spool.recover().isEmpty(), "nothing is left");
        for (int number = 0; number < 3; number++) {
            spool.release(List.of(spool.append(new byte[100])));
            check(fileBytes() == SpoolRecords.MAGIC_BYTES, "what is settled is cut");
        }
        kept.put("kept", spool.append("kept".getBytes(StandardCharsets.UTF_8)));
        spool.close();
    }

    /** One byte beyond the limit has no room; once all is released there is room for it again. */
    private void fill(int most, int count) throws IOException {
        byte[] event = new byte[100];
        Spool spool = open(most, 1 << 20);
        check(spool.recover().isEmpty(), "nothing is left");
        List<SpoolMarks.Place> places = new ArrayList<>();
        while (spool.hasRoom(event.length)) {
            places.add(spool.append(event));
        }
        check(places.size() == count && fileBytes() <= most, "the files keep to their bytes");
        for (SpoolMarks.Place place : places) {
            spool.release(List.of(place));
            check(fileBytes() <= most, "the marks keep to their bytes");
        }
        check(spool.hasRoom(event.length), "released bytes come back");
        spool.release(List.of(spool.append(event)));
        check(fileBytes() <= most, "the files keep to their bytes");
        spool.close();
        check(fileBytes() == 0, "all files go");
    }

    private static List<String> events(int count) {
        return IntStream.range(0, count).mapToObj(number -> "event " + number)
                .collect(Collectors.toList());
    }

    private static List<SpoolMarks.Place> append(Spool spool, List<String> events) {
        return events.stream().map(event -> spool.append(event.getBytes(StandardCharsets.UTF_8)))
                .collect(Collectors.toList());
    }

    private Spool openEmpty() {
        Spool spool = open(1 << 20, 1 << 20);
        check(spool.recover().isEmpty(), "nothing is left");
        return spool;
    }

    /** What is settled is not found after a kill. */
    private void kill() throws IOException {
        for (int answer : new int[] {1, 7, 100}) {
            Spool spool = openEmpty();
            List<String> events = events(1007);
            List<SpoolMarks.Place> places = append(spool, events);
            int settled = 0;
            while (settled + answer <= 1000) {
                spool.release(places.subList(settled, settled + answer));
                settled += answer;
                if (settled % 250 < answer) {
                    check(isLeft(events.subList(settled, events.size())), "it is settled");
                }
            }
            spool.release(places.subList(settled, places.size()));
            spool.close();
        }
    }

    /** A file that was emptied has no marks of what was there before, also of the same bytes. */
    private void comeAgain() throws IOException {
        Spool spool = openEmpty();
        for (SpoolMarks.Place place : append(spool, events(2))) {
            spool.release(List.of(place));
        }
        List<SpoolMarks.Place> again = append(spool, events(1));
        check(isLeft(events(1)), "an event that comes again is kept");
        spool.release(again);
        spool.close();
    }

    /** What is no mark settles nothing; it, and marks without a segment, go at the start. */
    private void forge() throws IOException {
        byte[] form = "SLMARKS1".getBytes(StandardCharsets.US_ASCII);
        byte[] other = "SLMARKS2".getBytes(StandardCharsets.US_ASCII);
        long first = SpoolRecords.head("event 0".getBytes(StandardCharsets.UTF_8));
        long second = SpoolRecords.head("event 1".getBytes(StandardCharsets.UTF_8));
        for (byte[] marks : List.of(new byte[0], new byte[100], form, marks(form, 0, 0),
                marks(other, first), marks(form, second, first), marks(form, 0, 0, 0, first),
                Arrays.copyOf(marks(form, first), form.length + 7))) {
            Spool spool = openEmpty();
            append(spool, events(3));
            spool.close();
            Files.write(folder.resolve(String.format("%016x.settled", 1)), marks);
            Files.write(folder.resolve(String.format("%016x.settled", 7)), marks);
            spool = open(1 << 20, 1 << 20);
            List<Spool.Left> left = spool.recover();
            check(left.size() == 3, "what is no mark settles nothing");
            check(!Files.exists(folder.resolve(String.format("%016x.settled", 7))), "it goes");
            spool.release(List.of(left.get(1).place()));
            check(isLeft(List.of("event 0", "event 2")), "and marks can be added");
            spool.release(List.of(left.get(0).place(), left.get(2).place()));
            spool.close();
            check(fileBytes() == 0, "all files go");
        }
    }

    private static byte[] marks(byte[] magic, long... heads) {
        ByteBuffer marks = ByteBuffer.allocate(magic.length + 8 * heads.length)
                .order(ByteOrder.LITTLE_ENDIAN).put(magic);
        LongStream.of(heads).forEach(marks::putLong);
        return marks.array();
    }

    /** Marks that the disk does not take are no reason to take no more events. */
    private void missMarks() throws IOException {
        Spool spool = openEmpty();
        List<SpoolMarks.Place> places = append(spool, events(4));
        // A directory in its place takes none.
        Path marks = folder.resolve(String.format("%016x.settled", 1));
        Files.createDirectory(marks);
        spool.release(places.subList(0, 2));
        Files.delete(marks);
        spool.release(places.subList(2, 3));
        spool.append("event 4".getBytes(StandardCharsets.UTF_8));
        check(isLeft(List.of("event 0", "event 1", "event 3", "event 4")), "they come again");
        spool.close();
    }

    /** Marks are synced with the last event of the limit; test_client_spools.py sees the calls. */
    private void limit() throws IOException {
        SpoolDirectory directory = SpoolDirectory.open(folder);
        SpoolMarks marks = new SpoolMarks(directory);
        marks.count(SpoolMarks.UNSYNCED_EVENTS - 1);
        check(marks.unsyncedEvents() == SpoolMarks.UNSYNCED_EVENTS - 1, "not below the limit");
        marks.count(1);
        check(marks.unsyncedEvents() == 0, "at the limit");
        marks.count(SpoolMarks.UNSYNCED_EVENTS + 1);
        check(marks.unsyncedEvents() == 0, "and beyond it");
        directory.close();
    }

    /** Whether the next owner finds these events if this one is killed now: it opens a copy. */
    private boolean isLeft(List<String> events) throws IOException {
        Path copy = folder.resolveSibling(folder.getFileName() + " copy");
        Files.createDirectories(copy);
        try (Stream<Path> old = Files.list(copy); Stream<Path> files = Files.list(folder)) {
            for (Path file : (Iterable<Path>) old::iterator) {
                Files.delete(file);
            }
            for (Path file : (Iterable<Path>) files::iterator) {
                Files.copy(file, copy.resolve(file.getFileName()));
            }
        }
        Spool spool = new Spool(copy, 1 << 20, 1 << 20, false);
        List<String> found = spool.recover().stream()
                .map(left -> new String(left.event(), StandardCharsets.UTF_8))
                .collect(Collectors.toList());
        spool.close();
        return found.size() == events.size() && new HashSet<>(found).equals(new HashSet<>(events));
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
