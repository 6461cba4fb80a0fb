package sightline

import (
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

func TestAHelperMakesTheEventThatItsNameSays(t *testing.T) {
	payload, android := []byte(`{"_dId": "1f"}`), pb.Platform_PLATFORM_ANDROID
	const push = `"platform": "PLATFORM_ANDROID", "push": {"raw": {"json": "eyJfZElkIjogIjFmIn0="}, `
	const send = `"platform": "PLATFORM_ANDROID", "pushSend": {"deliveryId": "1f", "broadlogId": "h1",
		"outcome": "PUSH_SEND_OUTCOME_`
	gone := pb.PushSendReason_PUSH_SEND_REASON_UNREGISTERED
	optedOut := pb.PushSendReason_PUSH_SEND_REASON_NO_CONSENT
	ids := map[string]bool{}
	for want, event := range map[string]*pb.TrackingEvent{
		push + `"kind": "PUSH_INTERACTION_KIND_RECEIVED"}`:  PushReceived(payload, android, "shop"),
		push + `"kind": "PUSH_INTERACTION_KIND_OPENED"}`:    PushOpened(payload, android, "shop"),
		push + `"kind": "PUSH_INTERACTION_KIND_DISMISSED"}`: PushDismissed(payload, android, "shop"),
		`"inApp": {"messageId": "m", "impression": {}}`:     InAppShown("m", "shop"),
		`"inApp": {"messageId": "m", "click": {"actionText": "Buy", "actionUrl": "https://shop"}}`: InAppClicked(
			"m", "shop", "https://shop", "Buy"),
		`"inApp": {"messageId": "m", "dismissal": {"type": "IN_APP_DISMISS_TYPE_SWIPE"}}`: InAppDismissed(
			"m", "shop", pb.InAppDismissType_IN_APP_DISMISS_TYPE_SWIPE),
		send + `SENT"}`: PushSent("1f", "h1", android, "shop"),
		send + `FAILED", "reason": 1, "providerCode": "GONE"}`: PushSendFailed(
			"1f", "h1", android, "shop", gone, "GONE"),
		send + `SKIPPED", "reason": 10}`: PushSendSkipped(
			"1f", "h1", android, "shop", optedOut),
	} {
		expected := new(pb.TrackingEvent)
		if err := protojson.Unmarshal([]byte(`{"appId": "shop", `+want+`}`), expected); err != nil {
			t.Fatal(want, err)
		}
		ids[event.EventId] = len(event.EventId) == 32 && event.OccurTime.IsValid()
		event.EventId, event.OccurTime = "", nil
		if !proto.Equal(event, expected) {
			t.Errorf("%s: %v", want, event)
		}
	}
	if len(ids) != 9 {
		t.Error(ids)
	}
	for id, isWhole := range ids {
		if !isWhole {
			t.Error(id)
		}
	}
}
