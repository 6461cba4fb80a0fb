// The stable identity of a fact: the first 15 bytes of a SHA-256 over its fields, each preceded by
// its length. With a HitKind's number as the 16th it is a hit id.
package main

import (
	"crypto/sha256"
	"encoding/binary"

	pb "sightline/v1"
)

const tenant = "default"

type hitKey [15]byte

// claim is what an accepted event claims of the window.
type claim struct {
	fact         hitKey
	notification hitKey // the fact's own but for an event with an action button
	kinds        uint16
	isDismissal  bool
}

func appendField(b []byte, field string) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(field)))
	return append(b, field...)
}

func keyOf(fields []byte) (key hitKey) {
	digest := sha256.Sum256(fields)
	copy(key[:], digest[:])
	return key
}

func (c *claim) pushKeys(appID string, isClassic bool, delivery, broadlog, button string) {
	var room [512]byte
	product := "standard"
	if isClassic {
		product = "classic"
	}
	b := appendField(room[:0], "push")
	b = appendField(b, tenant)
	b = appendField(b, product)
	b = appendField(b, appID)
	b = appendField(b, delivery)
	b = appendField(b, broadlog)
	c.notification = keyOf(appendField(b, ""))
	c.fact = c.notification
	if button != "" {
		c.fact = keyOf(appendField(b, button))
	}
}

func (c *claim) inAppKeys(event *pb.TrackingEvent, messageID, what string) {
	var room [512]byte
	b := appendField(room[:0], "in_app")
	b = appendField(b, tenant)
	b = appendField(b, event.AppId)
	b = appendField(b, messageID)
	b = appendField(b, event.SubjectId)
	b = appendField(b, what)
	b = appendField(b, event.EventId)
	if event.EventId == "" {
		b = binary.BigEndian.AppendUint32(b, 12)
		b = binary.BigEndian.AppendUint64(b, uint64(event.OccurTime.Seconds))
		b = binary.BigEndian.AppendUint32(b, uint32(event.OccurTime.Nanos))
	}
	c.fact = keyOf(b)
	c.notification = c.fact
}

// funnelWarnings tells what does not fit what the window knows of the notification.
func (c *claim) funnelWarnings(granted, funnel uint16) (warnings uint16) {
	isClicked := funnel&markClicked != 0
	if granted&kindBit(pb.HitKind_HIT_KIND_OPEN) != 0 {
		if c.kinds&kindBit(pb.HitKind_HIT_KIND_CLICK) == 0 && !isClicked {
			warnings |= warningBit(pb.Warning_WARNING_OPEN_WITHOUT_CLICK)
		}
		if funnel&markDismissed != 0 {
			warnings |= warningBit(pb.Warning_WARNING_OPEN_AFTER_DISMISS)
		}
	}
	if granted&kindBit(pb.HitKind_HIT_KIND_IMPRESSION) != 0 && isClicked {
		warnings |= warningBit(pb.Warning_WARNING_IMPRESSION_AFTER_CLICK)
	}
	return warnings
}
