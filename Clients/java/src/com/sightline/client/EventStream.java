package com.sightline.client;

import com.sightline.v1.StreamEventsRequest;
import com.sightline.v1.StreamEventsResponse;
import com.sightline.v1.TrackingServiceGrpc;
import io.grpc.Channel;
import io.grpc.Metadata;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.MetadataUtils;

/** One call of StreamEvents. Its owner calls it under a lock, and is called on gRPC's threads. */
final class EventStream implements ClientResponseObserver<StreamEventsRequest,
        StreamEventsResponse> {
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private final Streams owner;
    private ClientCallStreamObserver<StreamEventsRequest> requests;
    private boolean isHalfClosed;

    EventStream(Streams owner) {
        this.owner = owner;
    }

    void open(Channel channel, String token) {
        Metadata metadata = new Metadata();
        if (!token.isEmpty()) {
            metadata.put(AUTHORIZATION, "Bearer " + token);
        }
        TrackingServiceGrpc.newStub(channel)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
                .streamEvents(this);
    }

    /** Whether a request may be sent: not after the half-close. */
    boolean isOpen() {
        return requests != null && !isHalfClosed;
    }

    void send(StreamEventsRequest request) {
        requests.onNext(request);
    }

    void halfClose() {
        if (isOpen()) {
            isHalfClosed = true;
            requests.onCompleted();
        }
    }

    void cancel() {
        if (requests != null) {
            requests.cancel("given up", null);
        }
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<StreamEventsRequest> call) {
        requests = call;
    }

    @Override
    public void onNext(StreamEventsResponse answer) {
        owner.answered(this, answer);
    }

    @Override
    public void onError(Throwable error) {
        owner.ended(this, error);
    }

    @Override
    public void onCompleted() {
        owner.ended(this, null);
    }
}
