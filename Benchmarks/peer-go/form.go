// Form: what has to be there, and how big it may be. Finds every violation. An event's own size is
// left to the request's: after decoding it would have to be computed anew.
package main

import pb "sightline/v1"

const (
	maxMapEntries    = 64
	maxMapKeyBytes   = 64
	maxMapValueBytes = 1024
)

func (j *judgement) checkForm(event *pb.TrackingEvent) {
	j.limit("event_id", event.EventId, maxIDBytes)
	j.limit("app_id", event.AppId, maxNameBytes)
	j.limit("subject_id", event.SubjectId, maxNameBytes)
	if t := event.OccurTime; t != nil && (t.Seconds < -62135596800 ||
		t.Seconds > 253402300799 || t.Nanos < 0 || t.Nanos > 999999999) {
		j.rangeOf("occur_time", "outside Timestamp's range")
	}
	switch interaction := event.Interaction.(type) {
	case *pb.TrackingEvent_Push:
		j.checkPush(event, interaction.Push)
	case *pb.TrackingEvent_TrackAction:
		j.checkAction(interaction.TrackAction)
	case *pb.TrackingEvent_InApp:
		j.checkInApp(event, interaction.InApp)
	case *pb.TrackingEvent_PushSend:
		j.reject("push_send", pb.ViolationCode_VIOLATION_CODE_CONFLICT,
			"this peer judges what recipients do")
	default:
		j.require("interaction", "push, track_action or in_app says what happened")
	}
}

func (j *judgement) checkPush(event *pb.TrackingEvent, push *pb.PushInteraction) {
	switch payload := push.Payload.(type) {
	case *pb.PushInteraction_Apns:
		j.limitMap("push.apns.custom_fields", payload.Apns.CustomFields)
		j.checkPlatform(event, pb.Platform_PLATFORM_ANDROID)
	case *pb.PushInteraction_Fcm:
		if payload.Fcm.Data == nil {
			j.require("push.fcm.data", "the data message carries the ids")
		} else {
			j.limitMap("push.fcm.data.custom_fields", payload.Fcm.Data.CustomFields)
		}
		j.checkPlatform(event, pb.Platform_PLATFORM_IOS)
	default:
		j.require("push.payload", "apns or fcm holds the payload")
	}
	if push.Kind == 0 {
		j.require("push.kind", "RECEIVED, DISMISSED or OPENED")
	} else if push.Kind < 0 || push.Kind > 3 {
		j.rangeOf("push.kind", "not in the enum")
	}
	j.limit("push.action_identifier", push.ActionIdentifier, maxNameBytes)
	j.checkProduct("push.product", push.Product)
}

func (j *judgement) checkPlatform(event *pb.TrackingEvent, other pb.Platform) {
	if event.Platform == other {
		j.reject("platform", pb.ViolationCode_VIOLATION_CODE_CONFLICT,
			"the payload is of the other platform")
	}
}

func (j *judgement) checkAction(action *pb.TrackAction) {
	if action.Action == 0 {
		j.require("track_action.action", "the action says what happened")
	} else if action.Action < 0 || action.Action > 7 || action.Action == 6 {
		j.rangeOf("track_action.action", "not in the enum")
	}
	j.checkProduct("track_action.product", action.Product)
}

func (j *judgement) checkInApp(event *pb.TrackingEvent, message *pb.InAppInteraction) {
	if message.Event == nil {
		j.require("in_app.event", "impression, click, dismissal or display_error")
	}
	if message.MessageId == "" {
		j.require("in_app.message_id", "the campaign's message id")
	}
	t := event.OccurTime
	if event.EventId == "" && (t == nil || t.Seconds == 0 && t.Nanos == 0) {
		j.require("occur_time", "in-app facts are told apart by event_id or occur_time")
	}
	j.limit("in_app.message_id", message.MessageId, maxNameBytes)
	j.limit("in_app.campaign_name", message.CampaignName, maxNameBytes)
	j.limit("in_app.trigger_event", message.TriggerEvent, maxNameBytes)
	j.limitMap("in_app.app_data", message.AppData)
}

func (j *judgement) checkProduct(field string, product pb.CampaignProduct) {
	if product < 0 || product > pb.CampaignProduct_CAMPAIGN_PRODUCT_CLASSIC {
		j.rangeOf(field, "not in the enum")
	}
}

func (j *judgement) require(field, rule string) {
	j.reject(field, pb.ViolationCode_VIOLATION_CODE_REQUIRED, "missing: "+rule)
}

func (j *judgement) rangeOf(field, rule string) {
	j.reject(field, pb.ViolationCode_VIOLATION_CODE_RANGE, rule)
}

func (j *judgement) limit(field, value string, limit int) {
	if len(value) > limit {
		j.reject(field, pb.ViolationCode_VIOLATION_CODE_TOO_LARGE, "too long: shorten it")
	}
}

func (j *judgement) limitMap(field string, entries map[string]string) {
	if len(entries) > maxMapEntries {
		j.reject(field, pb.ViolationCode_VIOLATION_CODE_TOO_LARGE, "more than 64 entries")
	}
	for key, value := range entries {
		j.limit(field+".key", key, maxMapKeyBytes)
		j.limit(field+".value", value, maxMapValueBytes)
	}
}
