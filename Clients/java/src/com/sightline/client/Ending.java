package com.sightline.client;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.util.List;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.concurrent.ThreadLocalRandom;

/** Why a stream ended, and what that asks of a client: the table of docs/clients.md. */
final class Ending {
    private static final long FIRST_WAIT = 100_000_000L;
    static final long LONGEST_WAIT = 30_000_000_000L;
    /** Of the reasons that the server gives. */
    private static final String DOMAIN = "sightline.v1";
    /** Old protos of Google lack the type ErrorInfo; these are its fields, both texts. */
    private static final int REASON_FIELD = 1;
    private static final int DOMAIN_FIELD = 2;
    /** What a connection without TLS says of a server that speaks it. */
    private static final List<String> TLS_SIGNS =
            List.of("not SETTINGS", "Network closed for unknown reason");
    private static final String PLAINTEXT_ADVICE =
            ". If the server speaks TLS, leave out plaintext()";

    private final Status status;
    /** The server's reason in ErrorInfo; an empty text where a library or a proxy ended it. */
    private String reason = "";
    /** The nanoseconds of RetryInfo, or -1. */
    private long delay = -1;

    /** The end with an error, or with OK where it is null. */
    Ending(Throwable error) {
        status = error == null ? Status.OK : Status.fromThrowable(error);
        if (error == null) {
            return;
        }
        com.google.rpc.Status details = StatusProto.fromThrowable(error);
        if (details == null) {
            return;
        }
        try {
            for (Any detail : details.getDetailsList()) {
                if (detail.getTypeUrl().endsWith("/google.rpc.ErrorInfo")) {
                    readErrorInfo(UnknownFieldSet.parseFrom(detail.getValue()));
                } else if (detail.is(RetryInfo.class)) {
                    delay = Outbox.nanos(detail.unpack(RetryInfo.class).getRetryDelay());
                }
            }
        } catch (InvalidProtocolBufferException unreadable) {
            // The code alone decides then.
        }
    }

    private void readErrorInfo(UnknownFieldSet info) {
        if (text(info, DOMAIN_FIELD).equals(DOMAIN)) {
            reason = text(info, REASON_FIELD);
        }
    }

    private static String text(UnknownFieldSet fields, int number) {
        return fields.getField(number).getLengthDelimitedList().stream()
                .map(ByteString::toStringUtf8).findFirst().orElse("");
    }

    /** Whether another stream with the same credentials and requests would end in the same way. */
    boolean isFinal() {
        // What a proxy says may pass: an ingress without a backend is UNIMPLEMENTED.
        if (reason.isEmpty()) {
            return false;
        }
        return switch (status.getCode()) {
            case UNAUTHENTICATED -> !reason.equals("CREDENTIALS_EXPIRED");
            case INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, UNIMPLEMENTED -> true;
            case RESOURCE_EXHAUSTED -> delay < 0;
            default -> false;
        };
    }

    /**
     * Nanoseconds until the next stream: what the server asks for, and at random more with each
     * failure. Only the first of a row is followed at once, by an end or a delay of 0 that says so.
     */
    long nanosUntilNextStream(int failures) {
        if (failures == 0 && (status.isOk() || delay == 0)) {
            return 0;
        }
        long backoff = Math.min(LONGEST_WAIT, FIRST_WAIT << Math.min(failures, 10));
        return Math.max(0, delay)
                + ThreadLocalRandom.current().nextLong(Math.max(backoff, delay / 5));
    }

    /** The reason as one line of text, with its causes; null at a regular end. */
    String reason() {
        if (status.isOk()) {
            return null;
        }
        StringJoiner words = new StringJoiner(": ").add(
                reason.isEmpty() ? status.getCode().name() : reason);
        String last = Objects.requireNonNullElse(status.getDescription(), "");
        if (!last.isEmpty()) {
            words.add(last);
        }
        for (Throwable cause = status.getCause(); cause != null; cause = cause.getCause()) {
            String text = Objects.requireNonNullElse(cause.getMessage(), cause.toString());
            // Netty wraps an error in one with the same words.
            if (!last.contains(text)) {
                words.add(text);
                last = text;
            }
        }
        String all = words.toString().lines().findFirst().orElse("");
        return TLS_SIGNS.stream().anyMatch(all::contains) ? all + PLAINTEXT_ADVICE : all;
    }

    ClientException exception() {
        return new ClientException(reason(), status.asException());
    }
}
