package com.sightline.client;

import static com.sightline.client.ClientCases.check;

import com.sightline.v1.Platform;
import com.sightline.v1.PushSend;
import com.sightline.v1.PushSendOutcome;
import com.sightline.v1.PushSendReason;
import com.sightline.v1.TrackingEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Cases of what a sender reports: its events, and what the answers of push services mean. */
final class SendCases {
    private SendCases() { }

    static void eventsOfASender() {
        Platform ios = Platform.PLATFORM_IOS;
        PushSendReason gone = PushSendReason.PUSH_SEND_REASON_UNREGISTERED;
        TrackingEvent sent = Events.pushSent("1f", "h1", ios, "shop");
        check(sent.getPlatform() == ios && sent.getAppId().equals("shop") && sent.hasOccurTime()
                && !sent.getEventId().isEmpty(), sent.toString());
        PushSend expected = PushSend.newBuilder().setDeliveryId("1f").setBroadlogId("h1")
                .setOutcome(PushSendOutcome.PUSH_SEND_OUTCOME_SENT).build();
        check(sent.getPushSend().equals(expected), "a push that was taken");
        check(Events.pushSendFailed("1f", "h1", ios, "shop", gone, "Unregistered").getPushSend()
                .equals(expected.toBuilder().setOutcome(PushSendOutcome.PUSH_SEND_OUTCOME_FAILED)
                        .setReason(gone).setProviderCode("Unregistered").build()),
                "one that failed");
        check(Events.pushSendSkipped("1f", "h1", ios, "shop", gone).getPushSend()
                .equals(expected.toBuilder().setOutcome(PushSendOutcome.PUSH_SEND_OUTCOME_SKIPPED)
                        .setReason(gone).build()), "one that was not tried");
    }

    static void answersOfPushServices(Path table) throws IOException {
        List<String> rows = Files.readAllLines(table);
        check(rows.size() > 50, "the table has its rows");
        for (String row : rows.subList(1, rows.size())) {
            String[] column = row.split(",", -1);
            int status = Integer.parseInt(column[1]);
            PushAnswer expected = new PushAnswer(
                    PushSendOutcome.valueOf("PUSH_SEND_OUTCOME_" + column[5].toUpperCase()),
                    PushSendReason.valueOf("PUSH_SEND_REASON_"
                            + (column[6].isEmpty() ? "UNSPECIFIED" : column[6].toUpperCase())),
                    column[7]);
            if (!column[0].equals("fcm")) {
                check(PushAnswer.apns(status, column[2]).equals(expected), row);
            }
            if (!column[0].equals("apns")) {
                check(PushAnswer.fcm(status, column[2], column[3], column[4]).equals(expected),
                        row);
            }
        }
    }
}
