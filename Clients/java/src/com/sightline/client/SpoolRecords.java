package com.sightline.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;

/**
 * The form of a spool's file: a magic and then records, each the length of an event's bytes and the
 * CRC-32 of length and bytes, both 4 bytes little-endian, and the bytes. The length is summed too: a
 * tail of zeros, as a power cut may leave it, is no record. All client libraries have this form.
 */
final class SpoolRecords {
    /** The bytes of a record apart from its event. */
    static final int HEAD_BYTES = 8;

    private static final byte[] MAGIC = "SLSPOOL1".getBytes(StandardCharsets.US_ASCII);
    static final int MAGIC_BYTES = MAGIC.length;

    private SpoolRecords() { }

    /**
     * The events of a file.
     *
     * @param end the end of the last whole record; 0 without a magic
     * @param isDamaged whether what stands behind that is no torn end
     */
    record Found(List<byte[]> events, int end, boolean isDamaged) { }

    /** What a file begins with. */
    static byte[] magic() {
        return MAGIC.clone();
    }

    /** An event's record. */
    static byte[] of(byte[] event) {
        return ByteBuffer.allocate(HEAD_BYTES + event.length).order(ByteOrder.LITTLE_ENDIAN)
                .putLong(head(event)).put(event).array();
    }

    /** Length and checksum of an event, as its record begins. It is never 0: no gap is a mark. */
    static long head(byte[] event) {
        CRC32 checksum = new CRC32();
        checksum.update(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN)
                .putInt(event.length).array());
        checksum.update(event);
        return checksum.getValue() << 32 | event.length;
    }

    /**
     * Reads a file up to its end, or to its first record that is not whole. Such a one is torn where
     * the file `mayBeTorn` and has no whole record behind it: it was never synced.
     */
    static Found read(byte[] bytes, boolean mayBeTorn) {
        List<byte[]> events = new ArrayList<>();
        int end = MAGIC_BYTES;
        if (!startsWithMagic(bytes)) {
            return new Found(events, 0, !(mayBeTorn && isTornMagic(bytes)));
        }
        for (int length; (length = length(bytes, end)) >= 0; end += HEAD_BYTES + length) {
            events.add(Arrays.copyOfRange(bytes, end + HEAD_BYTES, end + HEAD_BYTES + length));
        }
        boolean isDamaged = end < bytes.length && !(mayBeTorn && isLast(bytes, end));
        return new Found(events, end, isDamaged);
    }

    private static boolean startsWithMagic(byte[] bytes) {
        return bytes.length >= MAGIC_BYTES
                && Arrays.equals(bytes, 0, MAGIC_BYTES, MAGIC, 0, MAGIC_BYTES);
    }

    /** Whether a file has the start of a magic, and zeros. */
    private static boolean isTornMagic(byte[] bytes) {
        int end = bytes.length;
        while (end > 0 && bytes[end - 1] == 0) {
            end--;
        }
        return end < MAGIC_BYTES && Arrays.equals(bytes, 0, end, MAGIC, 0, end);
    }

    /** Whether no whole record begins behind a place. */
    private static boolean isLast(byte[] bytes, int place) {
        for (int next = place + 1; next <= bytes.length - HEAD_BYTES; next++) {
            if (length(bytes, next) >= 0) {
                return false;
            }
        }
        return true;
    }

    /** The length of the event whose whole record begins at a place; -1 where there is none. */
    private static int length(byte[] bytes, int place) {
        int room = bytes.length - place - HEAD_BYTES;
        if (room < 0) {
            return -1;
        }
        ByteBuffer head = ByteBuffer.wrap(bytes, place, HEAD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        int length = head.getInt();
        boolean isWhole = length >= 0 && length <= room
                && checksum(bytes, place, length) == head.getInt();
        return isWhole ? length : -1;
    }

    private static int checksum(byte[] bytes, int place, int length) {
        CRC32 checksum = new CRC32();
        checksum.update(bytes, place, 4);
        checksum.update(bytes, place + HEAD_BYTES, length);
        return (int) checksum.getValue();
    }
}
