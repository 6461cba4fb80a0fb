// The tracking rules over decoded events. Order: form, consent, flag, ids, product.
package main

import (
	"time"

	pb "sightline/v1"
)

const (
	maxEventBytes = 16 * 1024
	maxIDBytes    = 64
	maxNameBytes  = 256
)

// judgement is what the rules say of one event; the zero value is one that nothing was said of.
type judgement struct {
	verdict    pb.Verdict
	warnings   uint16
	violations []*pb.FieldViolation
	claim      claim
}

func kindBit(kind pb.HitKind) uint16       { return 1 << kind }
func warningBit(warning pb.Warning) uint16 { return 1 << warning }

func (j *judgement) reject(field string, code pb.ViolationCode, rule string) {
	j.verdict = pb.Verdict_VERDICT_REJECTED
	j.violations = append(j.violations,
		&pb.FieldViolation{Field: field, Code: code, Description: rule})
}

func (j *judgement) accept(kinds uint16) {
	j.verdict = pb.Verdict_VERDICT_ACCEPTED
	j.claim.kinds = kinds
}

func (j *judgement) judge(event *pb.TrackingEvent, now time.Time) {
	j.checkForm(event)
	if j.verdict != 0 {
		return
	}
	// Consent that is not said follows the default, which is opted in (D22).
	if event.Consent != pb.Consent_CONSENT_OPTED_IN &&
		event.Consent != pb.Consent_CONSENT_UNSPECIFIED {
		j.verdict = pb.Verdict_VERDICT_SUPPRESSED_CONSENT
		return
	}
	switch interaction := event.Interaction.(type) {
	case *pb.TrackingEvent_Push:
		j.judgePush(event, interaction.Push)
	case *pb.TrackingEvent_TrackAction:
		j.judgeAction(event, interaction.TrackAction)
	case *pb.TrackingEvent_InApp:
		j.judgeInApp(event, interaction.InApp)
	}
	if t := event.OccurTime; t != nil && (t.Seconds != 0 || t.Nanos != 0) &&
		j.verdict == pb.Verdict_VERDICT_ACCEPTED {
		if behind := now.Unix() - t.Seconds; behind < -5*60 || behind > 30*86400 {
			j.warnings |= warningBit(pb.Warning_WARNING_CLOCK_SKEW)
		}
	}
}

// push is what the two payloads have in common.
type push struct {
	path              string
	delivery, message string
	flag              *string
	platform          pb.Platform
}

func (j *judgement) judgePush(event *pb.TrackingEvent, interaction *pb.PushInteraction) {
	p := push{}
	mediaWithoutMutable := false
	if apns := interaction.GetApns(); apns != nil {
		p = push{"push.apns", apns.DeliveryId, apns.MessageId, apns.AcsDeliveryTracking,
			pb.Platform_PLATFORM_IOS}
		mediaWithoutMutable = apns.MediaAttachmentUrl != "" && apns.Aps.GetMutableContent() != 1
	} else {
		data := interaction.GetFcm().Data
		p = push{"push.fcm.data", data.DeliveryId, data.MessageId, data.AcsDeliveryTracking,
			pb.Platform_PLATFORM_ANDROID}
	}
	if !j.passesFlag(p) || !j.passesIDs(p, "message_id") {
		return
	}
	isClassic := interaction.Product == pb.CampaignProduct_CAMPAIGN_PRODUCT_CLASSIC
	switch {
	case interaction.Kind == pb.PushInteractionKind_PUSH_INTERACTION_KIND_RECEIVED:
		j.accept(kindBit(pb.HitKind_HIT_KIND_IMPRESSION))
	case interaction.Kind == pb.PushInteractionKind_PUSH_INTERACTION_KIND_DISMISSED && isClassic:
		j.reject("push.kind", pb.ViolationCode_VIOLATION_CODE_CONFLICT,
			"DISMISSED is not counted by Campaign Classic: send RECEIVED or OPENED")
		return
	case interaction.Kind == pb.PushInteractionKind_PUSH_INTERACTION_KIND_DISMISSED:
		j.accept(kindBit(pb.HitKind_HIT_KIND_CLICK))
		j.claim.isDismissal = true
	case isClassic:
		j.accept(kindBit(pb.HitKind_HIT_KIND_CLICK))
	default:
		j.accept(kindBit(pb.HitKind_HIT_KIND_CLICK) | kindBit(pb.HitKind_HIT_KIND_OPEN))
	}
	j.warn(p, isClassic)
	if p.flag == nil && !isClassic {
		j.warnings |= warningBit(pb.Warning_WARNING_FLAG_ASSUMED_ON)
	}
	if mediaWithoutMutable {
		j.warnings |= warningBit(pb.Warning_WARNING_MEDIA_WITHOUT_MUTABLE_CONTENT)
	}
	j.claim.pushKeys(event.AppId, isClassic, p.delivery, p.message, interaction.ActionIdentifier)
}

func (j *judgement) judgeAction(event *pb.TrackingEvent, action *pb.TrackAction) {
	p := push{"track_action", action.DeliveryId, action.BroadlogId, action.AcsDeliveryTracking,
		event.Platform}
	if !j.passesFlag(p) || !j.passesIDs(p, "broadlog_id") {
		return
	}
	isClassic := action.Product == pb.CampaignProduct_CAMPAIGN_PRODUCT_CLASSIC
	switch {
	case action.Action == pb.Action_ACTION_CLICK:
		j.accept(kindBit(pb.HitKind_HIT_KIND_CLICK))
	case isClassic && action.Action == pb.Action_ACTION_OPEN:
		j.accept(kindBit(pb.HitKind_HIT_KIND_IMPRESSION))
	case isClassic:
		j.reject("track_action.action", pb.ViolationCode_VIOLATION_CODE_CONFLICT,
			"the action means nothing to Campaign Classic: send 1 (received) or 2 (click)")
		return
	case action.Action == pb.Action_ACTION_OPEN:
		j.accept(kindBit(pb.HitKind_HIT_KIND_OPEN))
	case action.Action == pb.Action_ACTION_BUTTON_1:
		j.accept(kindBit(pb.HitKind_HIT_KIND_BUTTON_1))
	case action.Action == pb.Action_ACTION_BUTTON_2:
		j.accept(kindBit(pb.HitKind_HIT_KIND_BUTTON_2))
	case action.Action == pb.Action_ACTION_CLOSE:
		j.accept(kindBit(pb.HitKind_HIT_KIND_CLOSE))
	default:
		j.accept(kindBit(pb.HitKind_HIT_KIND_IMPRESSION))
	}
	j.warn(p, isClassic)
	j.claim.pushKeys(event.AppId, isClassic, p.delivery, p.message, "")
}

func (j *judgement) judgeInApp(event *pb.TrackingEvent, message *pb.InAppInteraction) {
	switch {
	case message.DataCollectionEnabled != nil && !*message.DataCollectionEnabled:
		j.verdict = pb.Verdict_VERDICT_SUPPRESSED_CONSENT
		return
	case message.TestMessage:
		j.verdict = pb.Verdict_VERDICT_SUPPRESSED_TEST_MESSAGE
		return
	case message.DisplaySuppressed:
		j.verdict = pb.Verdict_VERDICT_SUPPRESSED_DISPLAY
		return
	}
	kind, what := pb.HitKind_HIT_KIND_IN_APP_DISMISSAL, "dismissal"
	switch fact := message.Event.(type) {
	case *pb.InAppInteraction_Impression:
		kind, what = pb.HitKind_HIT_KIND_IN_APP_IMPRESSION, "impression"
	case *pb.InAppInteraction_Click:
		if fact.Click.ActionUrl != "" {
			kind, what = pb.HitKind_HIT_KIND_IN_APP_CLICK, "click"
		}
	case *pb.InAppInteraction_DisplayError:
		kind, what = pb.HitKind_HIT_KIND_IN_APP_DISPLAY_ERROR, "display_error"
	}
	j.accept(kindBit(kind))
	j.claim.inAppKeys(event, message.MessageId, what)
}

func (j *judgement) passesFlag(p push) bool {
	if p.flag == nil {
		return true
	}
	flag := *p.flag
	if p.platform == pb.Platform_PLATFORM_IOS {
		flag = lowerASCII(flag)
	}
	switch flag {
	case "on":
		return true
	case "off":
		j.verdict = pb.Verdict_VERDICT_SUPPRESSED_FLAG_OFF
	default:
		j.verdict = pb.Verdict_VERDICT_SUPPRESSED_FLAG_UNKNOWN
	}
	return false
}

func (j *judgement) passesIDs(p push, messageField string) bool {
	j.checkID(p.path, "delivery_id", p.delivery)
	j.checkID(p.path, messageField, p.message)
	return j.verdict == 0
}

func (j *judgement) checkID(path, name, id string) {
	switch {
	case id == "":
		j.reject(path+"."+name, pb.ViolationCode_VIOLATION_CODE_REQUIRED,
			"missing: without both ids nothing can be counted")
	case len(id) > maxIDBytes:
		j.reject(path+"."+name, pb.ViolationCode_VIOLATION_CODE_TOO_LARGE,
			"longer than 64 bytes: send the payload's own id")
	case !all(id, isSafeInURL):
		j.reject(path+"."+name, pb.ViolationCode_VIOLATION_CODE_FORMAT,
			"only A-Z a-z 0-9 . _ - may be used: send the payload's own id")
	}
}

func (j *judgement) warn(p push, isClassic bool) {
	if !isClassic && !(all(p.delivery, isHex) &&
		len(p.message) > 1 && p.message[0] == 'h' && all(p.message[1:], isHex)) {
		j.warnings |= warningBit(pb.Warning_WARNING_ID_NOT_HEX)
	}
	if p.platform == pb.Platform_PLATFORM_IOS &&
		j.claim.kinds == kindBit(pb.HitKind_HIT_KIND_IMPRESSION) {
		j.warnings |= warningBit(pb.Warning_WARNING_IMPRESSION_UNRELIABLE)
	}
}
