// What the vendors' SDKs send: GET /r/?id={broadlogId},{deliveryId},{action}&mcId={ECID}.
package main

import (
	"net/http"
	"strings"

	pb "sightline/v1"
)

func (d *httpDoor) recordPostback(w http.ResponseWriter, r *http.Request) {
	event := postbackOf(r)
	if event == nil {
		http.NotFound(w, r)
		return
	}
	d.server.record([]*pb.TrackingEvent{event}, []byte(r.URL.RawQuery), false)
	// An SDK takes 200 alone for success, and drops what was refused anyway.
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusOK)
}

// postbackOf is the event that a request reports; nil where it is no postback.
func postbackOf(r *http.Request) *pb.TrackingEvent {
	if r.URL.Path != "/r/" || r.Method != http.MethodGet && r.Method != http.MethodPost {
		return nil
	}
	query := r.URL.Query()
	parts := strings.Split(query.Get("id"), ",")
	if len(parts) != 3 || len(parts[2]) != 1 || !strings.Contains("123457", parts[2]) {
		return nil
	}
	subject := query.Get("mcId")
	if subject == "" {
		subject = query.Get("mcid")
	}
	product := pb.CampaignProduct_CAMPAIGN_PRODUCT_STANDARD
	if subject == "" {
		product = pb.CampaignProduct_CAMPAIGN_PRODUCT_CLASSIC
	}
	return &pb.TrackingEvent{
		SubjectId: subject, Consent: pb.Consent_CONSENT_OPTED_IN,
		Platform: platformOf(r.UserAgent()),
		Interaction: &pb.TrackingEvent_TrackAction{TrackAction: &pb.TrackAction{
			BroadlogId: parts[0], DeliveryId: parts[1],
			Action: pb.Action(parts[2][0] - '0'), Product: product,
		}},
	}
}

func platformOf(agent string) pb.Platform {
	switch {
	case strings.Contains(agent, "like Mac OS X"):
		return pb.Platform_PLATFORM_IOS
	case strings.Contains(agent, "Linux; U;"):
		return pb.Platform_PLATFORM_ANDROID
	}
	return pb.Platform_PLATFORM_UNSPECIFIED
}
