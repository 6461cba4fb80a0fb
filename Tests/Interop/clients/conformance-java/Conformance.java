import com.sightline.client.ClientException;
import com.sightline.client.SightlineClient;
import com.sightline.v1.Action;
import com.sightline.v1.PushDisplay;
import com.sightline.v1.PushSend;
import com.sightline.v1.PushSendOutcome;
import com.sightline.v1.PushSendReason;
import com.sightline.v1.TrackAction;
import com.sightline.v1.TrackingEvent;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** For `sightline-conformance client`: docs/clients/conformance.md says what a program for it does. */
public final class Conformance {
    public static void main(String[] arguments) throws Exception {
        SightlineClient client = SightlineClient.builder(System.getenv("SIGHTLINE_TARGET"))
                .plaintext().token(() -> System.getenv("SIGHTLINE_TOKEN"))
                .onResult(result -> System.out.printf("{\"event_id\": \"%s\", \"verdict\": %d}%n",
                        result.getEventId(), result.getVerdictValue()))
                .closeTimeout(Duration.ofMinutes(10)).build();
        List<TrackingEvent> left = new ArrayList<>();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null; ) {
            TrackingEvent event = event(line);
            try {
                client.send(event);
            } catch (ClientException refused) {
                left.add(event);
            }
        }
        try {
            client.close();
        } catch (ClientException loss) {
            System.err.println(loss.getMessage());
        }
        left.addAll(client.unacknowledged());
        if (!left.isEmpty()) {
            System.out.println(left.stream().map(event -> "\"" + event.getEventId() + "\"")
                    .collect(Collectors.joining(", ", "{\"unacknowledged\": [", "]}")));
            System.exit(1);
        }
    }

    /** The kit's events have these fields; Debian has no parser of JSON for protobuf. */
    private static TrackingEvent event(String line) {
        TrackingEvent.Builder event = TrackingEvent.newBuilder()
                .setEventId(value(line, "eventId"))
                .setAppId(value(line, "appId"))
                .setSubjectId(value(line, "subjectId"));
        if (find(line, "outcome") != null) {
            return event.setPushSend(send(line)).build();
        }
        return event.setTrackAction(TrackAction.newBuilder()
                .setBroadlogId(value(line, "broadlogId"))
                .setDeliveryId(value(line, "deliveryId"))
                .setAction(Action.valueOf(value(line, "action")))).build();
    }

    private static PushSend send(String line) {
        PushSend.Builder send = PushSend.newBuilder()
                .setBroadlogId(value(line, "broadlogId"))
                .setDeliveryId(value(line, "deliveryId"))
                .setOutcome(PushSendOutcome.valueOf(value(line, "outcome")))
                .setAttempt(Integer.parseInt(value(line, "attempt")));
        if (find(line, "reason") != null) {
            send.setReason(PushSendReason.valueOf(value(line, "reason")))
                    .setProviderCode(value(line, "providerCode"));
        } else {
            send.setProviderMessageId(value(line, "providerMessageId"))
                    .setDisplay(PushDisplay.valueOf(value(line, "display")));
        }
        return send.build();
    }

    private static String value(String line, String name) {
        String found = find(line, name);
        if (found == null) {
            throw new IllegalArgumentException("no " + name + " in " + line);
        }
        return found;
    }

    /** A string or a number; null if there is none. */
    private static String find(String line, String name) {
        Matcher matcher =
                Pattern.compile("\"" + name + "\":\\s*\"?([^\",}]*)").matcher(line);
        return matcher.find() ? matcher.group(1) : null;
    }
}
