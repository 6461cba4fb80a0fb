package sightline

import (
	"crypto/rand"
	"encoding/hex"

	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

// PushReceived is the event of a push that reached the device. The payload is the JSON that the app got,
// byte for byte; app is its bundle id or package name.
//
// As in all events that are made here, EventId is random and OccurTime is now. Set what else there is to
// tell in the event: SubjectId, Consent, GetPush().ActionIdentifier, ….
func PushReceived(payload []byte, platform pb.Platform, app string) *pb.TrackingEvent {
	return push(pb.PushInteractionKind_PUSH_INTERACTION_KIND_RECEIVED, payload, platform, app)
}

// PushOpened is the event of a push that was tapped, and opened the app.
func PushOpened(payload []byte, platform pb.Platform, app string) *pb.TrackingEvent {
	return push(pb.PushInteractionKind_PUSH_INTERACTION_KIND_OPENED, payload, platform, app)
}

// PushDismissed is the event of a push that was cleared.
func PushDismissed(payload []byte, platform pb.Platform, app string) *pb.TrackingEvent {
	return push(pb.PushInteractionKind_PUSH_INTERACTION_KIND_DISMISSED, payload, platform, app)
}

// InAppShown is the event of a Firebase in-app message that was seen.
func InAppShown(message, app string) *pb.TrackingEvent {
	return inApp(app, &pb.InAppInteraction{MessageId: message,
		Event: &pb.InAppInteraction_Impression{Impression: &pb.InAppImpression{}}})
}

// InAppClicked is the event of an action that was chosen in a Firebase in-app message: its URL, and
// its button's text. Without a URL it counts as a dismissal.
func InAppClicked(message, app, url, text string) *pb.TrackingEvent {
	return inApp(app, &pb.InAppInteraction{MessageId: message,
		Event: &pb.InAppInteraction_Click{Click: &pb.InAppClick{ActionText: text, ActionUrl: url}}})
}

// InAppDismissed is the event of a Firebase in-app message that was closed without its action.
func InAppDismissed(message, app string, how pb.InAppDismissType) *pb.TrackingEvent {
	return inApp(app, &pb.InAppInteraction{MessageId: message,
		Event: &pb.InAppInteraction_Dismissal{Dismissal: &pb.InAppDismissal{Type: how}}})
}

// PushSent is the event of a push that the push service took. The ids are the payload's _dId and
// _mId. Set in GetPushSend() what else there is to tell: ProviderMessageId (apns-id, or FCM's
// name), Attempt from 1, and Display, who shows it. No field may have the device's token.
func PushSent(delivery, broadlog string, platform pb.Platform, app string) *pb.TrackingEvent {
	return pushSend(platform, app, &pb.PushSend{DeliveryId: delivery, BroadlogId: broadlog,
		Outcome: pb.PushSendOutcome_PUSH_SEND_OUTCOME_SENT})
}

// PushSendFailed is the event of an attempt to send a push that failed, with its reason and the
// push service's own code, as APNsOutcome and FCMOutcome give them.
func PushSendFailed(delivery, broadlog string, platform pb.Platform, app string,
	reason pb.PushSendReason, code string) *pb.TrackingEvent {
	return pushSend(platform, app, &pb.PushSend{DeliveryId: delivery, BroadlogId: broadlog,
		Outcome: pb.PushSendOutcome_PUSH_SEND_OUTCOME_FAILED, Reason: reason, ProviderCode: code})
}

// PushSendSkipped is the event of a push that was not tried, for a reason such as NO_CONSENT or
// EXPIRED.
func PushSendSkipped(delivery, broadlog string, platform pb.Platform, app string,
	reason pb.PushSendReason) *pb.TrackingEvent {
	return pushSend(platform, app, &pb.PushSend{DeliveryId: delivery, BroadlogId: broadlog,
		Outcome: pb.PushSendOutcome_PUSH_SEND_OUTCOME_SKIPPED, Reason: reason})
}

func push(kind pb.PushInteractionKind, payload []byte, platform pb.Platform,
	app string) *pb.TrackingEvent {
	event := newEvent(app)
	event.Platform = platform
	event.Interaction = &pb.TrackingEvent_Push{Push: &pb.PushInteraction{Kind: kind,
		Payload: &pb.PushInteraction_Raw{Raw: &pb.RawPayload{Json: payload}}}}
	return event
}

func pushSend(platform pb.Platform, app string, send *pb.PushSend) *pb.TrackingEvent {
	event := newEvent(app)
	event.Platform = platform
	event.Interaction = &pb.TrackingEvent_PushSend{PushSend: send}
	return event
}

func inApp(app string, interaction *pb.InAppInteraction) *pb.TrackingEvent {
	event := newEvent(app)
	event.Interaction = &pb.TrackingEvent_InApp{InApp: interaction}
	return event
}

func newEvent(app string) *pb.TrackingEvent {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		panic(err) // Linux has run out of nothing: a sandbox forbids to ask.
	}
	return &pb.TrackingEvent{EventId: hex.EncodeToString(id[:]), AppId: app,
		OccurTime: timestamppb.Now()}
}
