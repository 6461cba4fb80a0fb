package com.sightline.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.StringValue;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.util.concurrent.ThreadLocalRandom;

/** Why a stream ended, and what that asks of a client: the table of docs/clients.md. */
final class Ending {
    private static final long FIRST_WAIT = 100_000_000L;
    private static final long LONGEST_WAIT = 30_000_000_000L;

    private final Status status;
    /** The reason in ErrorInfo, or an empty text. */
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
                    // Old protos of Google lack the type; its reason is the first field, a text.
                    reason = StringValue.parseFrom(detail.getValue()).getValue();
                } else if (detail.is(RetryInfo.class)) {
                    delay = Outbox.nanos(detail.unpack(RetryInfo.class).getRetryDelay());
                }
            }
        } catch (InvalidProtocolBufferException unreadable) {
            // The code alone decides then.
        }
    }

    /** Whether another stream with the same credentials and requests would end in the same way. */
    boolean isFinal() {
        return switch (status.getCode()) {
            case UNAUTHENTICATED -> !reason.equals("CREDENTIALS_EXPIRED");
            case INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, UNIMPLEMENTED -> true;
            case RESOURCE_EXHAUSTED -> !reason.isEmpty() && delay < 0;
            default -> false;
        };
    }

    /** Nanoseconds until the next stream: what the server asks for, or more with each failure. */
    long nanosUntilNextStream(int failures) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        if (status.isOk() && failures == 0) {
            return 0;
        }
        return delay >= 0 ? delay + random.nextLong(delay / 5 + 1)
                : random.nextLong(Math.min(LONGEST_WAIT, FIRST_WAIT << Math.min(failures, 10)));
    }

    ClientException exception() {
        return new ClientException(reason.isEmpty() ? status.toString()
                : reason + ": " + status.getDescription(), status.asException());
    }
}
