import com.sightline.client.Options;
import com.sightline.client.SightlineClient;
import com.sightline.client.Stats;
import com.sightline.v1.Action;
import com.sightline.v1.TrackAction;
import com.sightline.v1.TrackingEvent;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/** Sends events by Java's client library, with the arguments and lines that library.py describes. */
public final class Program {
    private static final int TOLD_EVERY = 100;

    private final Map<String, String> arguments = new HashMap<>();
    private final String target;
    private final int first;
    private final int events;
    private final boolean isQuiet;
    private final AtomicLong settled = new AtomicLong();

    private Program(String[] words) {
        target = words[0];
        for (int index = 1; index < words.length; index++) {
            boolean isFlag = words[index].equals("--quiet");
            arguments.put(words[index], isFlag ? "" : words[++index]);
        }
        first = Integer.parseInt(arguments.getOrDefault("--first", "0"));
        events = Integer.parseInt(arguments.get("--events"));
        isQuiet = arguments.containsKey("--quiet");
    }

    public static void main(String[] words) throws Exception {
        System.exit(new Program(words).run() ? 0 : 1);
    }

    /** Whether all events have their verdicts. */
    private boolean run() throws Exception {
        SightlineClient client = options().build();
        // Made before the clock starts: an application has its events.
        TrackingEvent[] made = new TrackingEvent[isQuiet ? events - first : 0];
        for (int index = 0; index < made.length; index++) {
            made[index] = event(first + index);
        }
        double rate = Double.parseDouble(arguments.getOrDefault("--rate", "0"));
        long started = System.nanoTime();
        double used = cpuSeconds();
        for (int number = first; number < events; number++) {
            client.send(isQuiet ? made[number - first] : event(number));
            if (isQuiet || (number + 1) % TOLD_EVERY != 0) {
                continue;
            }
            tell("{\"taken\": " + (number + 1) + "}");
            if (rate > 0) {
                double due = (number + 1 - first) / rate;
                Thread.sleep(Math.max(0, (long) ((due - seconds(started)) * 1000)));
            }
        }
        client.close();
        double took = seconds(started);
        used = cpuSeconds() - used;
        Stats stats = client.stats();
        String verdicts = stats.verdicts().entrySet().stream()
                .map(entry -> "\"" + entry.getKey().getNumber() + "\": " + entry.getValue())
                .collect(Collectors.joining(", "));
        int pending = client.unacknowledged().size();
        tell("{\"end\": {\"verdicts\": {" + verdicts + "}, \"pending\": " + pending
                + ", \"streams\": " + stats.streams()
                + ", \"resent_requests\": " + stats.resentRequests()
                + ", \"retried_events\": " + stats.retriedEvents()
                + ", \"seconds\": " + took + ", \"cpu_seconds\": " + used + "}}");
        return pending == 0;
    }

    private Options options() throws Exception {
        int batch = Integer.parseInt(arguments.getOrDefault("--batch", "100"));
        int pending = Integer.parseInt(arguments.getOrDefault("--max-pending", "10000"));
        double silence = Double.parseDouble(arguments.getOrDefault("--keepalive", "20"));
        Options options = SightlineClient.builder(target).plaintext()
                .batch(batch, 64 << 10).maxPending(pending, 8 << 20)
                .keepalive(Duration.ofMillis((long) (silence * 1000)), Duration.ofSeconds(1))
                .closeTimeout(Duration.ofSeconds(300));
        if (arguments.containsKey("--token-file")) {
            String token = Files.readString(Path.of(arguments.get("--token-file"))).strip();
            options.token(() -> token);
        }
        if (arguments.containsKey("--spool")) {
            options.spool(Path.of(arguments.get("--spool")));
        }
        return isQuiet ? options : options.onResult(result -> {
            long count = settled.incrementAndGet();
            if (count % TOLD_EVERY == 0) {
                tell("{\"settled\": " + count + "}");
            }
        });
    }

    /** An event with one hit, whose id is its number. */
    private TrackingEvent event(int number) {
        String notification = String.format("h%s%08x", arguments.get("--space"), number);
        return TrackingEvent.newBuilder()
                .setEventId(Integer.toString(number))
                .setAppId("com.example.shop")
                .setSubjectId("subject-" + number % 5000)
                .setTrackAction(TrackAction.newBuilder().setDeliveryId("1f")
                        .setBroadlogId(notification).setAction(Action.ACTION_OPEN))
                .build();
    }

    private static double seconds(long since) {
        return (System.nanoTime() - since) / 1e9;
    }

    /** Of this process, all its threads. */
    private static double cpuSeconds() {
        return Optional.of(ManagementFactory.getOperatingSystemMXBean())
                .map(com.sun.management.OperatingSystemMXBean.class::cast)
                .orElseThrow().getProcessCpuTime() / 1e9;
    }

    // In one piece: two threads tell.
    private static void tell(String line) {
        synchronized (System.out) {
            System.out.print(line + "\n");
            System.out.flush();
        }
    }
}
