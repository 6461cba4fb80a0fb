// Events in the contract's JSON, by encoding/json: an array, one object, or one to a line.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
	pb "sightline/v1"
)

// named is an enum's value, by name or by number.
type named struct {
	name   string
	number int32
}

func (n *named) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &n.name)
	}
	return json.Unmarshal(data, &n.number)
}

type eventJSON struct {
	EventID      string           `json:"eventId"`
	OccurTime    *time.Time       `json:"occurTime"`
	AppID        string           `json:"appId"`
	Platform     named            `json:"platform"`
	SubjectID    string           `json:"subjectId"`
	Consent      named            `json:"consent"`
	TraceContext *pb.TraceContext `json:"traceContext"`
	Push         *pushJSON        `json:"push"`
	TrackAction  *trackActionJSON `json:"trackAction"`
	InApp        *inAppJSON       `json:"inApp"`
}

type pushJSON struct {
	APNs             *apnsJSON `json:"apns"`
	FCM              *fcmJSON  `json:"fcm"`
	Kind             named     `json:"kind"`
	ActionIdentifier string    `json:"actionIdentifier"`
	AppState         named     `json:"appState"`
	Product          named     `json:"product"`
}

type apnsJSON struct {
	APS                 apsJSON           `json:"aps"`
	DeliveryID          string            `json:"_dId"`
	MessageID           string            `json:"_mId"`
	AcsDeliveryTracking *string           `json:"_acsDeliveryTracking"`
	MediaAttachmentURL  string            `json:"media-attachment-url"`
	URI                 string            `json:"uri"`
	CustomFields        map[string]string `json:"customFields"`
}

type apsJSON struct {
	Alert            pb.Alert          `json:"alert"`
	Badge            *int32            `json:"badge"`
	Sound            string            `json:"sound"`
	Category         string            `json:"category"`
	ContentAvailable int32             `json:"content-available"`
	MutableContent   int32             `json:"mutable-content"`
	OtherFields      map[string]string `json:"otherFields"`
}

type fcmJSON struct {
	CollapseKey string       `json:"collapseKey"`
	Priority    string       `json:"priority"`
	To          string       `json:"to"`
	Data        *fcmDataJSON `json:"data"`
}

type fcmDataJSON struct {
	DeliveryID          string            `json:"_dId"`
	MessageID           string            `json:"_mId"`
	AcsDeliveryTracking *string           `json:"_acsDeliveryTracking"`
	Title               string            `json:"title"`
	Body                string            `json:"body"`
	Category            string            `json:"category"`
	Sound               string            `json:"sound"`
	URI                 string            `json:"uri"`
	MediaAttachmentURL  string            `json:"media-attachment-url"`
	Badge               *int32            `json:"badge"`
	CustomFields        map[string]string `json:"customFields"`
}

type trackActionJSON struct {
	BroadlogID          string  `json:"broadlogId"`
	DeliveryID          string  `json:"deliveryId"`
	Action              named   `json:"action"`
	AcsDeliveryTracking *string `json:"acsDeliveryTracking"`
	Product             named   `json:"product"`
}

type inAppJSON struct {
	MessageID             string            `json:"messageId"`
	CampaignName          string            `json:"campaignName"`
	TestMessage           bool              `json:"testMessage"`
	AppData               map[string]string `json:"appData"`
	TriggerEvent          string            `json:"triggerEvent"`
	DisplaySuppressed     bool              `json:"displaySuppressed"`
	DataCollectionEnabled *bool             `json:"dataCollectionEnabled"`
	Impression            *struct{}         `json:"impression"`
	Click                 *clickJSON        `json:"click"`
	Dismissal             *dismissalJSON    `json:"dismissal"`
	DisplayError          *displayErrorJSON `json:"displayError"`
}

type clickJSON struct {
	ActionText string `json:"actionText"`
	ActionURL  string `json:"actionUrl"`
}

type dismissalJSON struct {
	Type named `json:"type"`
}

type displayErrorJSON struct {
	Reason      named  `json:"reason"`
	FetchReason named  `json:"fetchReason"`
	Detail      string `json:"detail"`
}

// decodeEvents reads a body; a field that is not known is an error, as elsewhere.
func decodeEvents(body []byte) ([]*pb.TrackingEvent, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var events []*pb.TrackingEvent
	if start := bytes.TrimLeft(body, " \t\r\n"); len(start) > 0 && start[0] == '[' {
		if _, err := decoder.Token(); err != nil {
			return nil, err
		}
		for decoder.More() {
			if err := decodeInto(decoder, &events); err != nil {
				return nil, err
			}
		}
		if _, err := decoder.Token(); err != nil {
			return nil, err
		}
	}
	for {
		err := decodeInto(decoder, &events)
		if errors.Is(err, io.EOF) {
			return events, nil
		} else if err != nil {
			return nil, err
		}
	}
}

func decodeInto(decoder *json.Decoder, events *[]*pb.TrackingEvent) error {
	var event eventJSON
	if err := decoder.Decode(&event); err != nil {
		return err
	}
	if len(*events) == maxEvents {
		return fmt.Errorf("more than %d events: send smaller batches", maxEvents)
	}
	decoded, err := event.decoded()
	if err == nil {
		*events = append(*events, decoded)
	}
	return err
}

// enums looks names up, and keeps the first that is in no enum.
type enums struct{ err error }

func (e *enums) value(n named, field string, values map[string]int32) int32 {
	if n.name == "" {
		return n.number
	}
	number, ok := values[n.name]
	if !ok && e.err == nil {
		e.err = fmt.Errorf("%s: %q is not in the enum", field, n.name)
	}
	return number
}

func (e *enums) product(n named) pb.CampaignProduct {
	return pb.CampaignProduct(e.value(n, "product", pb.CampaignProduct_value))
}

func (j *eventJSON) decoded() (*pb.TrackingEvent, error) {
	e := &enums{}
	event := &pb.TrackingEvent{
		EventId: j.EventID, AppId: j.AppID, SubjectId: j.SubjectID, TraceContext: j.TraceContext,
		Platform: pb.Platform(e.value(j.Platform, "platform", pb.Platform_value)),
		Consent:  pb.Consent(e.value(j.Consent, "consent", pb.Consent_value)),
	}
	if j.OccurTime != nil {
		event.OccurTime = timestamppb.New(*j.OccurTime)
	}
	switch {
	case j.Push != nil:
		event.Interaction = &pb.TrackingEvent_Push{Push: j.Push.decoded(e)}
	case j.TrackAction != nil:
		event.Interaction = &pb.TrackingEvent_TrackAction{TrackAction: j.TrackAction.decoded(e)}
	case j.InApp != nil:
		event.Interaction = &pb.TrackingEvent_InApp{InApp: j.InApp.decoded(e)}
	}
	return event, e.err
}

func (j *pushJSON) decoded(e *enums) *pb.PushInteraction {
	push := &pb.PushInteraction{
		Kind: pb.PushInteractionKind(
			e.value(j.Kind, "push.kind", pb.PushInteractionKind_value)),
		ActionIdentifier: j.ActionIdentifier,
		AppState:         pb.AppState(e.value(j.AppState, "push.app_state", pb.AppState_value)),
		Product:          e.product(j.Product),
	}
	switch {
	case j.APNs != nil:
		push.Payload = &pb.PushInteraction_Apns{Apns: j.APNs.decoded()}
	case j.FCM != nil:
		push.Payload = &pb.PushInteraction_Fcm{Fcm: j.FCM.decoded()}
	}
	return push
}

func (j *apnsJSON) decoded() *pb.ApnsPayload {
	return &pb.ApnsPayload{
		Aps: &pb.Aps{
			Alert: &j.APS.Alert, Badge: j.APS.Badge, Sound: j.APS.Sound, Category: j.APS.Category,
			ContentAvailable: j.APS.ContentAvailable, MutableContent: j.APS.MutableContent,
			OtherFields: j.APS.OtherFields,
		},
		DeliveryId: j.DeliveryID, MessageId: j.MessageID,
		AcsDeliveryTracking: j.AcsDeliveryTracking, MediaAttachmentUrl: j.MediaAttachmentURL,
		Uri: j.URI, CustomFields: j.CustomFields,
	}
}

func (j *fcmJSON) decoded() *pb.FcmPayload {
	payload := &pb.FcmPayload{CollapseKey: j.CollapseKey, Priority: j.Priority, To: j.To}
	if data := j.Data; data != nil {
		payload.Data = &pb.FcmData{
			DeliveryId: data.DeliveryID, MessageId: data.MessageID,
			AcsDeliveryTracking: data.AcsDeliveryTracking, Title: data.Title, Body: data.Body,
			Category: data.Category, Sound: data.Sound, Uri: data.URI,
			MediaAttachmentUrl: data.MediaAttachmentURL, Badge: data.Badge,
			CustomFields: data.CustomFields,
		}
	}
	return payload
}

func (j *trackActionJSON) decoded(e *enums) *pb.TrackAction {
	return &pb.TrackAction{
		BroadlogId: j.BroadlogID, DeliveryId: j.DeliveryID,
		Action:              pb.Action(e.value(j.Action, "track_action.action", pb.Action_value)),
		AcsDeliveryTracking: j.AcsDeliveryTracking, Product: e.product(j.Product),
	}
}

func (j *inAppJSON) decoded(e *enums) *pb.InAppInteraction {
	message := &pb.InAppInteraction{
		MessageId: j.MessageID, CampaignName: j.CampaignName, TestMessage: j.TestMessage,
		AppData: j.AppData, TriggerEvent: j.TriggerEvent, DisplaySuppressed: j.DisplaySuppressed,
		DataCollectionEnabled: j.DataCollectionEnabled,
	}
	switch {
	case j.Impression != nil:
		message.Event = &pb.InAppInteraction_Impression{Impression: &pb.InAppImpression{}}
	case j.Click != nil:
		message.Event = &pb.InAppInteraction_Click{Click: &pb.InAppClick{
			ActionText: j.Click.ActionText, ActionUrl: j.Click.ActionURL,
		}}
	case j.Dismissal != nil:
		message.Event = &pb.InAppInteraction_Dismissal{Dismissal: &pb.InAppDismissal{
			Type: pb.InAppDismissType(
				e.value(j.Dismissal.Type, "in_app.dismissal.type", pb.InAppDismissType_value)),
		}}
	case j.DisplayError != nil:
		message.Event = &pb.InAppInteraction_DisplayError{DisplayError: &pb.InAppDisplayError{
			Reason: pb.InAppRenderErrorReason(e.value(j.DisplayError.Reason,
				"in_app.display_error.reason", pb.InAppRenderErrorReason_value)),
			FetchReason: pb.InAppFetchErrorReason(e.value(j.DisplayError.FetchReason,
				"in_app.display_error.fetch_reason", pb.InAppFetchErrorReason_value)),
			Detail: j.DisplayError.Detail,
		}}
	}
	return message
}
