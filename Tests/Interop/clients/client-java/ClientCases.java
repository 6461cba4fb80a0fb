package com.sightline.client;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import com.google.protobuf.UnknownFieldSet;
import com.google.rpc.RetryInfo;
import com.sightline.client.ScriptedChannel.Call;
import com.sightline.v1.EventResult;
import com.sightline.v1.FieldViolation;
import com.sightline.v1.InAppDismissType;
import com.sightline.v1.Platform;
import com.sightline.v1.StreamEventsRequest;
import com.sightline.v1.StreamEventsResponse;
import com.sightline.v1.StreamLimits;
import com.sightline.v1.TrackingEvent;
import com.sightline.v1.TrackingServiceGrpc;
import com.sightline.v1.Verdict;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.SyncFailedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Cases of the Java client without a server: CASE FOLDER. test_java_client.py names them. */
public final class ClientCases {
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);
    /** Kept here: a logger that nobody holds may go, with its handlers. */
    private static final Logger LOGGER = Logger.getLogger("com.sightline.client");
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    public static void main(String[] words) throws Exception {
        switch (words[0]) {
            case "a token that fails" -> tokenThatFails();
            case "an error of the channel" -> errorOfTheChannel();
            case "an error of a callback" -> errorOfACallback();
            case "an interrupt and trySend" -> interruptAndTrySend();
            case "the backoff of the channel" -> backoffOfTheChannel();
            case "a silent connection" -> silentConnection();
            case "streams that are closed in a row" -> closedInARow();
            case "a status of a proxy" -> statusOfAProxy();
            case "a delay beyond reason" -> delayBeyondReason();
            case "a channel that cannot be built" -> channelThatCannotBeBuilt(Path.of(words[1]));
            case "an answer after close" -> answerAfterClose();
            case "a large event" -> largeEvent();
            case "a large answer" -> largeAnswer();
            case "the last failure" -> lastFailure();
            case "a failure that is told" -> failureThatIsTold();
            case "a loss is thrown once" -> lossIsThrownOnce();
            case "forms of a token" -> formsOfAToken();
            case "an address of the web" -> addressOfTheWeb();
            case "events in one call" -> eventsInOneCall();
            case "other files in a spool" -> otherFilesInASpool(Path.of(words[1]));
            case "a sync that fails" -> syncThatFails();
            case "a full spool that fails" -> fullSpoolThatFails(Path.of(words[1]));
            case "limits below 1" -> limitsBelowOne();
            case "two pauses" -> twoPauses();
            case "a server that takes no events" -> serverThatTakesNoEvents();
            case "an end for good is told" -> endForGoodIsTold();
            case "an end while a close waits" -> endWhileACloseWaits();
            case "events of a sender" -> SendCases.eventsOfASender();
            case "answers of push services" -> SendCases.answersOfPushServices(Path.of(words[2]));
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private static void tokenThatFails() throws Exception {
        Iterator<String> tokens = Arrays.asList("", null, "key").iterator();
        ScriptedChannel channel = new ScriptedChannel(call -> { });
        SightlineClient client = channel.options().token(() -> {
            String token = tokens.next();
            if ("".equals(token)) {
                throw new IllegalStateException("no identity provider");
            }
            return token;
        }).build();
        CompletableFuture<EventResult> ticket = client.send(event("1"));
        Call call = channel.nextCall();
        check("Bearer key".equals(call.headers().get(AUTHORIZATION)), "the token that came");
        call.tellLimits();
        call.accept(call.nextRequest());
        ticket.get();
    }

    private static void errorOfTheChannel() throws Exception {
        AssertionError error = new AssertionError("of the test");
        SightlineClient client = new ScriptedChannel(call -> {
            throw error;
        }).options().build();
        try {
            client.send(event("1")).get();
            throw new AssertionError("the client goes on");
        } catch (ExecutionException failed) {
            check(failed.getCause().getCause() == error, "the ticket has the cause");
        } catch (ClientException failed) {
            check(failed.getCause() == error, "send has the cause");
        }
    }

    private static void errorOfACallback() throws Exception {
        ScriptedChannel channel = new ScriptedChannel(call -> { });
        List<String> told = new ArrayList<>();
        // Both in one request, however slow the machine is.
        SightlineClient client = channel.options().batch(2, 1 << 10).maxPending(2, 1 << 10)
                .linger(java.time.Duration.ofHours(1)).onResult(result -> {
                    told.add(result.getEventId());
                    throw new AssertionError("of the test");
                }).build();
        Call call = channel.nextCall();
        call.tellLimits();
        CompletableFuture<EventResult> first = client.send(event("1"));
        CompletableFuture<EventResult> second = client.send(event("2"));
        call.accept(call.nextRequest());
        first.get();
        second.get();
        // Waits until both are told.
        client.send(event("3"));
        check(told.equals(List.of("1", "2")), "each result is told");
    }

    private static void interruptAndTrySend() {
        SightlineClient client = new ScriptedChannel(call -> { }).options().build();
        Thread.currentThread().interrupt();
        check(client.trySend(event("1")).isPresent(), "the event is taken");
        check(Thread.interrupted(), "the interrupt stays");
    }

    private static void backoffOfTheChannel() throws Exception {
        List<Integer> resets = new ArrayList<>();
        ScriptedChannel channel = new ScriptedChannel(before -> resets.add(before.resets()));
        channel.options().build();
        channel.nextCall().end(Status.UNAVAILABLE);
        channel.nextCall();
        check(resets.equals(List.of(1, 2)), "each stream begins without it");
    }

    private static void silentConnection() throws Exception {
        BlockingQueue<Integer> idles = new LinkedBlockingQueue<>();
        ScriptedChannel channel = new ScriptedChannel(before -> idles.add(before.idles()));
        channel.options().answerTimeout(java.time.Duration.ofMillis(1)).build();
        channel.nextCall();
        channel.nextCall();
        check(idles.take() == 0 && idles.take() == 1, "the next stream has a new connection");
    }

    private static void closedInARow() {
        Ending closed = new Ending(null);
        Reconnects reconnects = new Reconnects(0);
        reconnects.ended(closed, 0);
        check(reconnects.nanosUntilNext(0) == 0, "the first one is followed at once");
        long longest = 0;
        for (int stream = 0; stream < 20; stream++) {
            reconnects.began(0);
            reconnects.ended(closed, 0);
            longest = Math.max(longest, reconnects.nanosUntilNext(0));
        }
        check(longest > 0 && longest <= Ending.LONGEST_WAIT, "the later ones after a wait");
        reconnects.settled();
        reconnects.ended(closed, 0);
        check(reconnects.nanosUntilNext(0) == 0, "at once after one that settles something");
        reconnects.began(0);
        reconnects.ended(closed, Ending.LONGEST_WAIT);
        check(reconnects.nanosUntilNext(Ending.LONGEST_WAIT) == 0, "and after one that was idle");
    }

    private static void statusOfAProxy() {
        for (Status status : List.of(Status.UNIMPLEMENTED, Status.UNAUTHENTICATED,
                Status.PERMISSION_DENIED, Status.INVALID_ARGUMENT, Status.NOT_FOUND,
                Status.RESOURCE_EXHAUSTED)) {
            check(!new Ending(status.asException()).isFinal(), status + " of a proxy");
            check(!ending(status, errorInfo("proxy.example")).isFinal(), status + " of another");
            check(ending(status, errorInfo("sightline.v1")).isFinal(), status + " of the server");
        }
    }

    private static void delayBeyondReason() {
        check(delayOf(315_576_000_000L) >= HOUR, "no less than an hour");
        check(delayOf(315_576_000_000L) <= HOUR + HOUR / 5, "and no more, but at random");
        check(delayOf(60) >= 60_000_000_000L, "the server's own");
        for (long seconds : List.of(0L, -5L)) {
            Ending atOnce = endingAfter(seconds);
            check(atOnce.nanosUntilNextStream(0) == 0, "the first one is followed at once");
            long longest = 0;
            for (int failures = 1; failures < 20; failures++) {
                longest = Math.max(longest, atOnce.nanosUntilNextStream(failures));
            }
            check(longest > 0 && longest <= Ending.LONGEST_WAIT, "the later ones after a wait");
        }
    }

    private static long delayOf(long seconds) {
        return endingAfter(seconds).nanosUntilNextStream(3);
    }

    private static Ending endingAfter(long seconds) {
        RetryInfo info = RetryInfo.newBuilder().setRetryDelay(
                Duration.newBuilder().setSeconds(seconds)).build();
        return ending(Status.UNAVAILABLE, Any.pack(info));
    }

    private static Ending ending(Status status, Any detail) {
        return new Ending(exception(status, detail));
    }

    private static StatusException exception(Status status, Any detail) {
        return StatusProto.toStatusException(com.google.rpc.Status.newBuilder()
                .setCode(status.getCode().value()).addDetails(detail).build());
    }

    private static Any errorInfo(String domain) {
        UnknownFieldSet fields = UnknownFieldSet.newBuilder()
                .addField(1, text("A_REASON")).addField(2, text(domain)).build();
        return Any.newBuilder().setTypeUrl("type.googleapis.com/google.rpc.ErrorInfo")
                .setValue(fields.toByteString()).build();
    }

    private static UnknownFieldSet.Field text(String value) {
        return UnknownFieldSet.Field.newBuilder()
                .addLengthDelimited(ByteString.copyFromUtf8(value)).build();
    }

    private static void channelThatCannotBeBuilt(Path folder) {
        try {
            SightlineClient.builder(new ScriptedChannel.Builder() {
                @Override
                public ManagedChannel build() {
                    throw new IllegalStateException("of the test");
                }
            }).spool(folder).build();
            throw new AssertionError("there is a client");
        } catch (IllegalStateException failed) {
            new ScriptedChannel(call -> { }).options().spool(folder).build().close();
        }
    }

    private static void answerAfterClose() throws Exception {
        ScriptedChannel channel = new ScriptedChannel(call -> { });
        List<EventResult> told = new ArrayList<>();
        SightlineClient client = channel.options().onResult(told::add).build();
        CompletableFuture<EventResult> ticket = client.send(event("1"));
        Call call = channel.nextCall();
        call.tellLimits();
        var request = call.nextRequest();
        channel.onShutdown(() -> call.accept(request));
        try {
            client.close();
            throw new AssertionError("nothing is said of the event");
        } catch (ClientException loss) {
            check(loss.getMessage().contains("1 events have no verdict"), loss.getMessage());
        }
        check(ticket.isCompletedExceptionally() && told.isEmpty(), "only its end is told");
        check(client.unacknowledged().size() == 1, "and the event is kept");
    }

    private static void largeEvent() throws Exception {
        ScriptedChannel channel = new ScriptedChannel(call -> { });
        SightlineClient client = channel.options().build();
        Call call = channel.nextCall();
        call.tellLimits();
        client.send(event("x".repeat(SightlineClient.MAX_EVENT_BYTES - 4)));
        int bytes = call.nextRequest().getSerializedSize();
        check(bytes <= 512 << 10, bytes + " bytes of a request");
        try {
            client.send(event("x".repeat(SightlineClient.MAX_EVENT_BYTES)));
            throw new AssertionError("an event that no request has room for");
        } catch (IllegalArgumentException tooLarge) {
            check(client.unacknowledged().size() == 1, "it is not taken");
        }
    }

    private static void largeAnswer() throws Exception {
        String words = "x".repeat(5 << 20);
        Server server = ServerBuilder.forPort(0).addService(new Refusing(words)).build().start();
        try (SightlineClient client = SightlineClient.builder("127.0.0.1:" + server.getPort())
                .plaintext().build()) {
            EventResult result = client.send(event("1")).get(1, TimeUnit.MINUTES);
            check(result.getViolations(0).getDescription().equals(words), "the answer is whole");
            check(client.stats().streams() == 1, "and came on the first stream");
        } finally {
            server.shutdownNow();
        }
    }

    /** A server that rejects each request with the same words. */
    private static final class Refusing extends TrackingServiceGrpc.TrackingServiceImplBase {
        private final String words;

        private Refusing(String words) {
            this.words = words;
        }

        @Override
        public StreamObserver<StreamEventsRequest> streamEvents(
                StreamObserver<StreamEventsResponse> answers) {
            answers.onNext(StreamEventsResponse.newBuilder()
                    .setLimits(StreamLimits.newBuilder().setMaxEvents(100)).build());
            return new StreamObserver<>() {
                @Override
                public void onNext(StreamEventsRequest request) {
                    answers.onNext(StreamEventsResponse.newBuilder()
                            .setDurableSequence(request.getSequence())
                            .addResults(EventResult.newBuilder()
                                    .setSequence(request.getSequence())
                                    .setVerdict(Verdict.VERDICT_REJECTED)
                                    .addViolations(FieldViolation.newBuilder()
                                            .setDescription(words))).build());
                }

                @Override
                public void onError(Throwable error) { }

                @Override
                public void onCompleted() {
                    answers.onCompleted();
                }
            };
        }
    }

    private static void lastFailure() throws Exception {
        ScriptedChannel channel = new ScriptedChannel(call -> { });
        SightlineClient client = channel.options().build();
        CompletableFuture<EventResult> ticket = client.send(event("1"));
        check(client.stats().lastFailure() == null, "none before a stream has failed");
        channel.nextCall().end(Status.UNAVAILABLE.withDescription("io exception")
                .withCause(new java.io.IOException("refused: /127.0.0.1",
                        new java.net.ConnectException("refused"))));
        Call call = channel.nextCall();
        String last = client.stats().lastFailure();
        check("UNAVAILABLE: io exception: refused: /127.0.0.1".equals(last), last);
        check(!client.flush(java.time.Duration.ZERO), "a flush that was too short");
        call.tellLimits();
        call.accept(call.nextRequest());
        ticket.get();
        check(client.stats().lastFailure() == null, "none once events have verdicts");
        call.end(Status.UNAUTHENTICATED);
        channel.nextCall();
        last = client.stats().lastFailure();
        check("UNAUTHENTICATED".equals(last), "a code alone is said too: " + last);
    }

    private static void failureThatIsTold() {
        Reconnects reconnects = new Reconnects(0);
        check(reconnects.isNews(0), "the first of a row");
        check(!reconnects.isNews(2 * Ending.LONGEST_WAIT), "and no other of it");
        reconnects.settled();
        check(reconnects.isNews(2 * Ending.LONGEST_WAIT), "the first of the next row");
        reconnects.settled();
        check(!reconnects.isNews(3 * Ending.LONGEST_WAIT - 1), "unless one was told just before");
        check(reconnects.isNews(3 * Ending.LONGEST_WAIT), "and then as soon as it may be");
    }

    private static void lossIsThrownOnce() throws Exception {
        SightlineClient client = new ScriptedChannel(call -> { }).options().build();
        client.send(event("1"));
        boolean isThrown = false;
        try (client) {
            client.close();
        } catch (ClientException loss) {
            isThrown = loss.getSuppressed().length == 0;
        }
        check(isThrown, "the end of the block says nothing more");
        try {
            client.flush(java.time.Duration.ZERO);
            throw new AssertionError("the flush of a client that has ended");
        } catch (ClientException ended) {
            check(client.unacknowledged().size() == 1, "the event is kept");
        }
    }

    private static void formsOfAToken() {
        for (String good : List.of("key", " key", "key\n", "key\r\n")) {
            check(Options.checkedToken(good).equals("key"), "white space around a key");
        }
        for (String bad : List.of("a key", "k\ney", "k\u00e9y", "key\u0000", "key\u007f")) {
            try {
                new ScriptedChannel(call -> { }).options().token(bad);
                throw new AssertionError("a key that no header has");
            } catch (IllegalArgumentException refused) {
                check(!refused.getMessage().contains(bad), "the key is not shown");
            }
        }
    }

    private static void addressOfTheWeb() {
        for (String target : List.of("http://shop:443", "https://shop:443")) {
            try {
                SightlineClient.builder(target);
                throw new AssertionError(target);
            } catch (IllegalArgumentException refused) {
                check(refused.getMessage().contains("write HOST:PORT"), refused.getMessage());
            }
        }
    }

    private static void eventsInOneCall() {
        byte[] payload = {'{', '}'};
        TrackingEvent opened = Events.pushOpened(payload, Platform.PLATFORM_IOS, "shop");
        check(opened.getPush().getRaw().getJson().equals(ByteString.copyFrom(payload))
                && opened.getPlatform() == Platform.PLATFORM_IOS
                && opened.getAppId().equals("shop") && opened.hasOccurTime(), opened.toString());
        List<TrackingEvent> pushes = List.of(
                Events.pushReceived(payload, Platform.PLATFORM_IOS, "shop"),
                Events.pushDismissed(payload, Platform.PLATFORM_IOS, "shop"), opened);
        for (int kind = 1; kind <= pushes.size(); kind++) {
            check(pushes.get(kind - 1).getPush().getKindValue() == kind, "the kind " + kind);
        }
        var shown = Events.inAppShown("m", "shop").getInApp();
        check(shown.hasImpression() && shown.getMessageId().equals("m"), "a view");
        var click = Events.inAppClicked("m", "shop", "https://shop", "Buy").getInApp().getClick();
        check(click.getActionUrl().equals("https://shop") && click.getActionText().equals("Buy"),
                "a click with its address and button");
        var type = InAppDismissType.IN_APP_DISMISS_TYPE_SWIPE;
        check(Events.inAppDismissed("m", "shop", type).getInApp().getDismissal().getType() == type,
                "how a message was closed");
        check(!opened.getEventId().equals(pushes.get(0).getEventId()), "each has its own id");
    }

    private static void otherFilesInASpool(Path folder) throws Exception {
        Files.createDirectories(folder);
        List<String> names = List.of("1.spool", "000000000000000A.spool", "copy.spool",
                "0000000000000001.spool.old");
        for (String name : names) {
            Files.writeString(folder.resolve(name), name);
        }
        SightlineClient client = new ScriptedChannel(call -> { }).options().spool(folder).build();
        client.send(event("1"));
        client.close();
        client = new ScriptedChannel(call -> { }).options().spool(folder).build();
        check(client.unacknowledged().size() == 1, "the event is there");
        client.close();
        for (String name : names) {
            check(Files.readString(folder.resolve(name)).equals(name), name + " is left alone");
        }
    }

    private static void syncThatFails() throws Exception {
        // A file that cannot be synced; nothing is written to it.
        SpoolFile file = new SpoolFile(Path.of("/dev/null"));
        SpoolSync sync = new SpoolSync(true);
        sync.appended(file);
        try (file) {
            file.sync();
            throw new AssertionError("the device is synced");
        } catch (SyncFailedException expected) {
            // As when another event begins the next file.
        }
        sync.run();
        try {
            sync.await();
            throw new AssertionError("the event counts as durable");
        } catch (SpoolException failed) {
            check(failed.getMessage().contains("cannot sync /dev/null"), failed.getMessage());
        }
    }

    private static void fullSpoolThatFails(Path folder) throws Exception {
        Spool spool = new Spool(folder, 200, 1, false);
        check(spool.recover().isEmpty(), "nothing is left");
        SpoolMarks.Place first = spool.append(new byte[10]);
        spool.append(new byte[10]);
        check(!spool.hasRoom(1000), "it is full");
        Files.delete(folder.resolve(String.format("%016x.spool", 1)));
        spool.release(List.of(first));
        check(spool.hasRoom(1000), "nobody waits for room");
        try {
            spool.append(new byte[10]);
            throw new AssertionError("it takes an event");
        } catch (SpoolException failed) {
            check(failed.getMessage().contains("cannot remove"), failed.getMessage());
        }
        SpoolSync sync = new SpoolSync(false);
        sync.fail(SpoolException.failed("sync", folder, new IOException("of the test")));
        // It returns, so that those who wait already are woken.
        sync.run();
    }

    private static void limitsBelowOne() {
        Options options = new ScriptedChannel(call -> { }).options();
        List<Runnable> limits = List.of(() -> options.batch(0, 1), () -> options.batch(1, 0),
                () -> options.requestsUnderWay(0), () -> options.maxPending(0, 1),
                () -> options.maxPending(1, 0), () -> options.spoolBytes(0, 1),
                () -> options.spoolBytes(1, 0));
        for (Runnable limit : limits) {
            try {
                limit.run();
            } catch (IllegalArgumentException refused) {
                check(refused.getMessage().contains("must be at least 1"), refused.getMessage());
                continue;
            }
            throw new AssertionError("limit " + limits.indexOf(limit) + " is taken");
        }
    }

    private static void twoPauses() {
        Outbox outbox = new Outbox(new ScriptedChannel(call -> { }).options()
                .linger(java.time.Duration.ZERO));
        outbox.streamBegan(StreamLimits.newBuilder().setMaxEvents(1).build());
        for (String id : List.of("1", "2")) {
            outbox.add(event(id), null, 0);
        }
        long first = outbox.next(0, true).getSequence();
        long second = outbox.next(0, true).getSequence();
        outbox.settle(later(first, 30), 0);
        outbox.settle(later(second, 0), 0);
        check(outbox.nanosUntilNext(0) >= 30_000_000_000L, "the longer one holds");
    }

    private static StreamEventsResponse later(long sequence, long seconds) {
        return StreamEventsResponse.newBuilder().setDurableSequence(sequence)
                .addResults(EventResult.newBuilder().setSequence(sequence)
                        .setVerdict(Verdict.VERDICT_RETRY_LATER))
                .setRetryDelay(Duration.newBuilder().setSeconds(seconds)).build();
    }

    private static void serverThatTakesNoEvents() throws Exception {
        BlockingQueue<String> told = toldByTheLog();
        ScriptedChannel channel = new ScriptedChannel(call -> { });
        SightlineClient client = channel.options().build();
        CompletableFuture<EventResult> ticket = client.send(event("1"));
        Call call = channel.nextCall();
        call.tellLimits();
        call.answer(later(call.nextRequest().getSequence(), 0));
        String expected = "RETRY_LATER: the server takes no events now";
        String last = client.stats().lastFailure();
        check(expected.equals(last), last);
        String words = told.take();
        check(words.contains(expected + "; 1 events have no verdict yet"), words);
        call.accept(call.nextRequest());
        ticket.get();
        check(client.stats().lastFailure() == null, "none once events have verdicts");
        client.send(event("2"));
        call.answer(later(call.nextRequest().getSequence(), 0));
        try {
            client.close();
            throw new AssertionError("nothing is said of the event");
        } catch (ClientException loss) {
            check(loss.getMessage().endsWith("the last failure: " + expected), loss.getMessage());
        }
    }

    private static void endForGoodIsTold() throws Exception {
        BlockingQueue<String> told = toldByTheLog();
        ScriptedChannel channel = new ScriptedChannel(call -> { });
        SightlineClient client = channel.options().build();
        client.send(event("1"));
        channel.nextCall().end(Status.UNAVAILABLE);
        String first = told.take();
        check(first.endsWith("the client tries again"), first);
        StatusException refusal = exception(Status.UNAUTHENTICATED, errorInfo("sightline.v1"));
        channel.nextCall().end(refusal.getStatus(), refusal.getTrailers());
        String last = told.take();
        check(last.endsWith("the client has ended"), "also behind another failure: " + last);
    }

    /** What the client logs from now on. */
    private static BlockingQueue<String> toldByTheLog() {
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        LOGGER.addHandler(new Handler() {
            @Override
            public void publish(LogRecord record) {
                told.add(record.getMessage());
            }

            @Override
            public void flush() { }

            @Override
            public void close() { }
        });
        return told;
    }

    private static void endWhileACloseWaits() throws Exception {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true));
        Sender sender = new Sender(new ScriptedChannel(call -> { }).options()
                .closeTimeout(java.time.Duration.ofNanos(HOUR)));
        sender.send(event("1"));
        Thread closing = Sender.daemon(sender::close, "closing");
        closing.start();
        while (closing.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        sender.exit(java.time.Duration.ZERO);
        check(said.toString().contains("1 events have no verdict, and are lost"), said.toString());
    }

    private static TrackingEvent event(String id) {
        return TrackingEvent.newBuilder().setEventId(id).build();
    }

    static void check(boolean isTrue, String rule) {
        if (!isTrue) {
            throw new AssertionError(rule);
        }
    }
}
