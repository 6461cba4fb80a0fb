package com.sightline.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.Timestamp;
import com.sightline.v1.InAppClick;
import com.sightline.v1.InAppDismissType;
import com.sightline.v1.InAppDismissal;
import com.sightline.v1.InAppImpression;
import com.sightline.v1.InAppInteraction;
import com.sightline.v1.Platform;
import com.sightline.v1.PushInteraction;
import com.sightline.v1.PushInteractionKind;
import com.sightline.v1.PushSend;
import com.sightline.v1.PushSendOutcome;
import com.sightline.v1.PushSendReason;
import com.sightline.v1.RawPayload;
import com.sightline.v1.TrackingEvent;
import java.time.Instant;
import java.util.UUID;

/**
 * Events in one call each, which happen now, and have a random id. What a call leaves out is set
 * with `toBuilder()`: the recipient, the time, the consent.
 */
public final class Events {
    private Events() { }

    /** A push has reached the device: its payload as the app got it, JSON. */
    public static TrackingEvent pushReceived(byte[] payload, Platform platform, String appId) {
        return push(PushInteractionKind.PUSH_INTERACTION_KIND_RECEIVED, payload, platform, appId);
    }

    /** The recipient has tapped a push. */
    public static TrackingEvent pushOpened(byte[] payload, Platform platform, String appId) {
        return push(PushInteractionKind.PUSH_INTERACTION_KIND_OPENED, payload, platform, appId);
    }

    /** The recipient has cleared a push. */
    public static TrackingEvent pushDismissed(byte[] payload, Platform platform, String appId) {
        return push(PushInteractionKind.PUSH_INTERACTION_KIND_DISMISSED, payload, platform, appId);
    }

    /** An in-app message was seen. */
    public static TrackingEvent inAppShown(String messageId, String appId) {
        return inApp(messageId, appId, InAppInteraction.newBuilder()
                .setImpression(InAppImpression.getDefaultInstance()));
    }

    /**
     * An action of an in-app message was chosen: its URL, and its button's text. Without a URL it
     * counts as a dismissal.
     */
    public static TrackingEvent inAppClicked(
            String messageId, String appId, String url, String text) {
        return inApp(messageId, appId, InAppInteraction.newBuilder()
                .setClick(InAppClick.newBuilder().setActionUrl(url).setActionText(text)));
    }

    /** An in-app message was closed. */
    public static TrackingEvent inAppDismissed(
            String messageId, String appId, InAppDismissType type) {
        return inApp(messageId, appId, InAppInteraction.newBuilder()
                .setDismissal(InAppDismissal.newBuilder().setType(type)));
    }

    /**
     * The push service took a push. The ids are the payload's {@code _dId} and {@code _mId}. What
     * else there is to tell is set in {@code getPushSendBuilder()}: the service's id of the
     * message, the attempt from 1, and who shows it. No field may have the device's token.
     */
    public static TrackingEvent pushSent(
            String deliveryId, String broadlogId, Platform platform, String appId) {
        return pushSend(deliveryId, broadlogId, platform, appId, PushSend.newBuilder()
                .setOutcome(PushSendOutcome.PUSH_SEND_OUTCOME_SENT));
    }

    /**
     * An attempt to send a push failed: its reason and the push service's own code, as
     * {@link PushAnswer} has them.
     */
    public static TrackingEvent pushSendFailed(String deliveryId, String broadlogId,
            Platform platform, String appId, PushSendReason reason, String code) {
        return pushSend(deliveryId, broadlogId, platform, appId, PushSend.newBuilder()
                .setOutcome(PushSendOutcome.PUSH_SEND_OUTCOME_FAILED).setReason(reason)
                .setProviderCode(code));
    }

    /** A push was not tried, for a reason such as NO_CONSENT or EXPIRED. */
    public static TrackingEvent pushSendSkipped(String deliveryId, String broadlogId,
            Platform platform, String appId, PushSendReason reason) {
        return pushSend(deliveryId, broadlogId, platform, appId, PushSend.newBuilder()
                .setOutcome(PushSendOutcome.PUSH_SEND_OUTCOME_SKIPPED).setReason(reason));
    }

    private static TrackingEvent push(
            PushInteractionKind kind, byte[] payload, Platform platform, String appId) {
        return event(appId).setPlatform(platform).setPush(PushInteraction.newBuilder().setKind(kind)
                .setRaw(RawPayload.newBuilder().setJson(ByteString.copyFrom(payload)))).build();
    }

    private static TrackingEvent pushSend(String deliveryId, String broadlogId, Platform platform,
            String appId, PushSend.Builder send) {
        return event(appId).setPlatform(platform)
                .setPushSend(send.setDeliveryId(deliveryId).setBroadlogId(broadlogId)).build();
    }

    private static TrackingEvent inApp(
            String messageId, String appId, InAppInteraction.Builder interaction) {
        return event(appId).setInApp(interaction.setMessageId(messageId)).build();
    }

    private static TrackingEvent.Builder event(String appId) {
        Instant now = Instant.now();
        return TrackingEvent.newBuilder().setEventId(UUID.randomUUID().toString()).setAppId(appId)
                .setOccurTime(Timestamp.newBuilder().setSeconds(now.getEpochSecond())
                        .setNanos(now.getNano()));
    }
}
