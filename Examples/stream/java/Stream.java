import com.sightline.v1.Action;
import com.sightline.v1.StreamEventsRequest;
import com.sightline.v1.StreamEventsResponse;
import com.sightline.v1.TrackAction;
import com.sightline.v1.TrackingEvent;
import com.sightline.v1.TrackingServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;

/** Sends ten events on one stream, and reads answers until all are durable. */
public final class Stream {
    private static final int REQUESTS = 10;

    public static void main(String[] arguments) throws Exception {
        ManagedChannel channel =
                ManagedChannelBuilder.forTarget(arguments[0]).usePlaintext().build();
        Answers answers = new Answers();
        StreamObserver<StreamEventsRequest> requests =
                TrackingServiceGrpc.newStub(channel).streamEvents(answers);
        long run = System.currentTimeMillis();
        for (int sequence = 1; sequence <= REQUESTS; sequence++) {
            requests.onNext(request(run, sequence));
        }
        requests.onCompleted();
        System.out.println(answers.summary.get());
        channel.shutdownNow();
    }

    private static StreamEventsRequest request(long run, int sequence) {
        return StreamEventsRequest.newBuilder()
                .setSequence(sequence)
                .addEvents(TrackingEvent.newBuilder()
                        .setEventId(run + "-" + sequence)
                        .setTrackAction(TrackAction.newBuilder()
                                .setDeliveryId("56c4")
                                .setBroadlogId(String.format("h%x%02x", run, sequence))
                                .setAction(Action.ACTION_OPEN)))
                .build();
    }

    /** Takes answers, on a thread of gRPC's. */
    private static final class Answers implements StreamObserver<StreamEventsResponse> {
        final CompletableFuture<String> summary = new CompletableFuture<>();
        private long durable;
        private long accepted;

        @Override
        public void onNext(StreamEventsResponse answer) {
            durable = answer.getDurableSequence();
            accepted += answer.getTally().getAccepted();
        }

        @Override
        public void onError(Throwable error) {
            summary.completeExceptionally(error);
        }

        @Override
        public void onCompleted() {
            summary.complete("durable up to " + durable + ", " + accepted + " accepted");
        }
    }
}
