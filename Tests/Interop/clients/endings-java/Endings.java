import com.sightline.client.Options;
import com.sightline.client.SightlineClient;
import com.sightline.v1.Action;
import com.sightline.v1.TrackAction;
import com.sightline.v1.TrackingEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Sends events and ends: TARGET ENDING EVENTS SECONDS KEY [SPOOL]. KEY may be empty. */
public final class Endings {
    public static void main(String[] words) throws Exception {
        Options options = SightlineClient.builder(words[0]).plaintext().token(words[4])
                .closeTimeout(Duration.ofSeconds(Integer.parseInt(words[3])));
        if (words.length > 5) {
            options.spool(Path.of(words[5]));
        }
        int events = Integer.parseInt(words[2]);
        if (List.of("closed", "exception").contains(words[1])) {
            try (SightlineClient client = options.build()) {
                send(client, events);
                if (words[1].equals("exception")) {
                    throw new IllegalStateException("of the program");
                }
            }
            return;
        }
        send(options.build(), events);
        if (words[1].equals("killed")) {
            System.out.println("sent");
            // Until it is killed, or whoever would do that is gone.
            System.in.read();
        }
    }

    private static void send(SightlineClient client, int events) throws InterruptedException {
        for (int number = 0; number < events; number++) {
            client.send(TrackingEvent.newBuilder().setEventId(Integer.toString(number))
                    .setTrackAction(TrackAction.newBuilder().setDeliveryId("1f")
                            .setBroadlogId("h" + Integer.toHexString(number))
                            .setAction(Action.ACTION_OPEN)).build());
        }
    }
}
