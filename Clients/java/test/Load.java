import com.sightline.client.SightlineClient;
import com.sightline.client.Stats;
import com.sightline.v1.Action;
import com.sightline.v1.TrackAction;
import com.sightline.v1.TrackingEvent;
import com.sightline.v1.Verdict;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/**
 * Sends COUNT events to TARGET as fast as the client takes them, or at RATE per second, closes, and
 * prints what has become of them. SIGHTLINE_KEY may be a key.
 */
public final class Load {
    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[1]);
        int rate = arguments.length > 2 ? Integer.parseInt(arguments[2]) : Integer.MAX_VALUE;
        String key = System.getenv().getOrDefault("SIGHTLINE_KEY", "");
        Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
        SightlineClient client = SightlineClient.builder(arguments[0])
                .plaintext().token(() -> key)
                .onResult(result -> verdicts.merge(result.getVerdict(), 1L, Long::sum))
                .closeTimeout(Duration.ofSeconds(120)).build();
        String failure = "";
        long started = System.nanoTime();
        int mostPending = 0;
        try {
            for (int number = 0; number < count; number++) {
                client.send(event(number));
                if (number % 64 == 0) {
                    mostPending = Math.max(mostPending, client.stats().pending());
                }
                while ((System.nanoTime() - started) / 1e9 * rate < number) {
                    Thread.sleep(1);
                }
            }
        } catch (RuntimeException error) {
            failure = String.valueOf(error.getMessage());
        }
        client.close();
        Stats stats = client.stats();
        double seconds = (System.nanoTime() - started) / 1e9;
        System.out.printf("{\"seconds\": %.3f, \"verdicts\": {", seconds);
        System.out.print(String.join(", ", verdicts.entrySet().stream()
                .map(entry -> "\"" + entry.getKey() + "\": " + entry.getValue()).toList()));
        System.out.printf("}, \"streams\": %d, \"sent_again\": %d, \"most_pending\": %d,"
                + " \"unacknowledged\": %d, \"failure\": \"%s\"}%n", stats.streams(),
                stats.sentAgain(), mostPending, client.unacknowledged().size(),
                failure.replace("\"", "'"));
    }

    private static TrackingEvent event(int number) {
        return TrackingEvent.newBuilder()
                .setEventId(Integer.toString(number))
                .setAppId("com.example.shop")
                .setTrackAction(TrackAction.newBuilder()
                        .setDeliveryId("56c4")
                        .setBroadlogId("h" + Integer.toHexString(number + 1))
                        .setAction(Action.ACTION_OPEN))
                .build();
    }
}
