package com.sightline.client;

import com.sightline.v1.EventResult;
import com.sightline.v1.StreamEventsRequest;
import com.sightline.v1.StreamEventsResponse;
import com.sightline.v1.StreamLimits;
import com.sightline.v1.Verdict;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ForwardingChannelBuilder;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A channel without a network: the test plays the server of its calls. */
final class ScriptedChannel extends ManagedChannel {
    private static final long SECONDS = 60;

    private final BlockingQueue<Call> calls = new LinkedBlockingQueue<>();
    /** Each call, before it is made. */
    private final Consumer<ScriptedChannel> onCall;
    private volatile int resets;
    private volatile int idles;
    private volatile Runnable onShutdown = () -> { };

    ScriptedChannel(Consumer<ScriptedChannel> onCall) {
        this.onCall = onCall;
    }

    /** Settings of a client of it, whose end waits for nothing. */
    Options options() {
        ManagedChannel channel = this;
        return SightlineClient.builder(new Builder() {
            @Override
            public ManagedChannel build() {
                return channel;
            }
        }).closeTimeout(Duration.ZERO);
    }

    abstract static class Builder extends ForwardingChannelBuilder<Builder> {
        @Override
        protected ManagedChannelBuilder<?> delegate() {
            return ManagedChannelBuilder.forTarget("127.0.0.1:1");
        }
    }

    /** The next call, as soon as the client makes it. */
    Call nextCall() throws InterruptedException {
        return next(calls);
    }

    int resets() {
        return resets;
    }

    /** How often the client has given up the channel's connection. */
    int idles() {
        return idles;
    }

    void onShutdown(Runnable action) {
        onShutdown = action;
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T found = queue.poll(SECONDS, TimeUnit.SECONDS);
        if (found == null) {
            throw new AssertionError("nothing came");
        }
        return found;
    }

    /** A call of StreamEvents. */
    static final class Call extends ClientCall<Object, Object> {
        private final BlockingQueue<StreamEventsRequest> requests = new LinkedBlockingQueue<>();
        private final BlockingQueue<Call> started;
        private Listener<Object> listener;
        private Metadata headers;

        private Call(BlockingQueue<Call> started) {
            this.started = started;
        }

        StreamEventsRequest nextRequest() throws InterruptedException {
            return next(requests);
        }

        Metadata headers() {
            return headers;
        }

        void tellLimits() {
            answer(StreamEventsResponse.newBuilder().setLimits(
                    StreamLimits.newBuilder().setMaxEvents(100)).build());
        }

        /** All of its events are accepted. */
        void accept(StreamEventsRequest request) {
            answer(StreamEventsResponse.newBuilder()
                    .setDurableSequence(request.getSequence())
                    .addResults(EventResult.newBuilder().setSequence(request.getSequence())
                            .setVerdict(Verdict.VERDICT_ACCEPTED)).build());
        }

        void answer(StreamEventsResponse answer) {
            listener.onMessage(answer);
        }

        void end(Status status) {
            end(status, new Metadata());
        }

        void end(Status status, Metadata trailers) {
            listener.onClose(status, trailers);
        }

        @Override
        public void start(Listener<Object> listener, Metadata headers) {
            this.listener = listener;
            this.headers = headers;
            started.add(this);
        }

        @Override
        public void request(int count) { }

        @Override
        public void cancel(String message, Throwable cause) { }

        @Override
        public void halfClose() { }

        @Override
        public void sendMessage(Object message) {
            requests.add((StreamEventsRequest) message);
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public <A, B> ClientCall<A, B> newCall(MethodDescriptor<A, B> method, CallOptions options) {
        onCall.accept(this);
        return (ClientCall<A, B>) new Call(calls);
    }

    @Override
    public void resetConnectBackoff() {
        resets++;
    }

    @Override
    public void enterIdle() {
        idles++;
    }

    @Override
    public String authority() {
        return "scripted";
    }

    @Override
    public ManagedChannel shutdown() {
        return this;
    }

    @Override
    public boolean isShutdown() {
        return false;
    }

    @Override
    public boolean isTerminated() {
        return false;
    }

    @Override
    public ManagedChannel shutdownNow() {
        onShutdown.run();
        return this;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return true;
    }
}
