// DO NOT EDIT.
// swift-format-ignore-file
//
// Made from Protos by Scripts/field-tags.

/// How the fields of a message begin on the wire: the field's number times 8, plus its wire type
/// (protobuf.dev/programming-guides/encoding). An enum for each message.
package enum FieldTag {
    /// sightline.v1.TrackingEvent.
    package enum TrackingEvent {
        /// `event_id`, field 1.
        @inlinable package static var eventID: UInt32 { 10 }
        /// `occur_time`, field 2.
        @inlinable package static var occurTime: UInt32 { 18 }
        /// `app_id`, field 3.
        @inlinable package static var appID: UInt32 { 26 }
        /// `platform`, field 4.
        @inlinable package static var platform: UInt32 { 32 }
        /// `subject_id`, field 5.
        @inlinable package static var subjectID: UInt32 { 42 }
        /// `consent`, field 6.
        @inlinable package static var consent: UInt32 { 48 }
        /// `trace_context`, field 7.
        @inlinable package static var traceContext: UInt32 { 58 }
        /// `push`, field 10.
        @inlinable package static var push: UInt32 { 82 }
        /// `track_action`, field 11.
        @inlinable package static var trackAction: UInt32 { 90 }
        /// `in_app`, field 12.
        @inlinable package static var inApp: UInt32 { 98 }
        /// `push_send`, field 14.
        @inlinable package static var pushSend: UInt32 { 114 }
        /// `raw_ids`, field 13.
        @inlinable package static var rawIDs: UInt32 { 106 }
        /// `app_version`, field 15.
        @inlinable package static var appVersion: UInt32 { 122 }
        /// `os_version`, field 16.
        @inlinable package static var osVersion: UInt32 { 130 }
        /// `sdk_version`, field 17.
        @inlinable package static var sdkVersion: UInt32 { 138 }
        /// `source`, field 18.
        @inlinable package static var source: UInt32 { 144 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o770222222227720202227 }
    }
    /// google.protobuf.Timestamp.
    package enum Timestamp {
        /// `seconds`, field 1.
        @inlinable package static var seconds: UInt32 { 8 }
        /// `nanos`, field 2.
        @inlinable package static var nanos: UInt32 { 16 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777777777007 }
    }
    /// sightline.v1.TraceContext.
    package enum TraceContext {
        /// `traceparent`, field 1.
        @inlinable package static var traceparent: UInt32 { 10 }
        /// `tracestate`, field 2.
        @inlinable package static var tracestate: UInt32 { 18 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777777777227 }
    }
    /// sightline.v1.PushInteraction.
    package enum PushInteraction {
        /// `apns`, field 1.
        @inlinable package static var apns: UInt32 { 10 }
        /// `fcm`, field 2.
        @inlinable package static var fcm: UInt32 { 18 }
        /// `raw`, field 7.
        @inlinable package static var raw: UInt32 { 58 }
        /// `kind`, field 3.
        @inlinable package static var kind: UInt32 { 24 }
        /// `action_identifier`, field 4.
        @inlinable package static var actionIdentifier: UInt32 { 34 }
        /// `app_state`, field 5.
        @inlinable package static var appState: UInt32 { 40 }
        /// `product`, field 6.
        @inlinable package static var product: UInt32 { 48 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777720020227 }
    }
    /// sightline.v1.ApnsPayload.
    package enum ApnsPayload {
        /// `aps`, field 1.
        @inlinable package static var aps: UInt32 { 10 }
        /// `delivery_id`, field 2.
        @inlinable package static var deliveryID: UInt32 { 18 }
        /// `message_id`, field 3.
        @inlinable package static var messageID: UInt32 { 26 }
        /// `acs_delivery_tracking`, field 4.
        @inlinable package static var acsDeliveryTracking: UInt32 { 34 }
        /// `media_attachment_url`, field 5.
        @inlinable package static var mediaAttachmentURL: UInt32 { 42 }
        /// `uri`, field 6.
        @inlinable package static var uri: UInt32 { 50 }
        /// `custom_fields`, field 7.
        @inlinable package static var customFields: UInt32 { 58 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777722222227 }
    }
    /// sightline.v1.Aps.
    package enum Aps {
        /// `alert`, field 1.
        @inlinable package static var alert: UInt32 { 10 }
        /// `badge`, field 2.
        @inlinable package static var badge: UInt32 { 16 }
        /// `sound`, field 3.
        @inlinable package static var sound: UInt32 { 26 }
        /// `category`, field 4.
        @inlinable package static var category: UInt32 { 34 }
        /// `content_available`, field 5.
        @inlinable package static var contentAvailable: UInt32 { 40 }
        /// `mutable_content`, field 6.
        @inlinable package static var mutableContent: UInt32 { 48 }
        /// `other_fields`, field 7.
        @inlinable package static var otherFields: UInt32 { 58 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777720022027 }
    }
    /// sightline.v1.Alert.
    package enum Alert {
        /// `title`, field 1.
        @inlinable package static var title: UInt32 { 10 }
        /// `body`, field 2.
        @inlinable package static var body: UInt32 { 18 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777777777227 }
    }
    /// sightline.v1.FcmPayload.
    package enum FcmPayload {
        /// `collapse_key`, field 1.
        @inlinable package static var collapseKey: UInt32 { 10 }
        /// `priority`, field 2.
        @inlinable package static var priority: UInt32 { 18 }
        /// `to`, field 3.
        @inlinable package static var to: UInt32 { 26 }
        /// `data`, field 4.
        @inlinable package static var data: UInt32 { 34 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777777722227 }
    }
    /// sightline.v1.FcmData.
    package enum FcmData {
        /// `delivery_id`, field 1.
        @inlinable package static var deliveryID: UInt32 { 10 }
        /// `message_id`, field 2.
        @inlinable package static var messageID: UInt32 { 18 }
        /// `acs_delivery_tracking`, field 3.
        @inlinable package static var acsDeliveryTracking: UInt32 { 26 }
        /// `title`, field 4.
        @inlinable package static var title: UInt32 { 34 }
        /// `body`, field 5.
        @inlinable package static var body: UInt32 { 42 }
        /// `category`, field 6.
        @inlinable package static var category: UInt32 { 50 }
        /// `sound`, field 7.
        @inlinable package static var sound: UInt32 { 58 }
        /// `uri`, field 8.
        @inlinable package static var uri: UInt32 { 66 }
        /// `media_attachment_url`, field 9.
        @inlinable package static var mediaAttachmentURL: UInt32 { 74 }
        /// `badge`, field 10.
        @inlinable package static var badge: UInt32 { 80 }
        /// `custom_fields`, field 11.
        @inlinable package static var customFields: UInt32 { 90 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777202222222227 }
    }
    /// sightline.v1.RawPayload.
    package enum RawPayload {
        /// `json`, field 1.
        @inlinable package static var json: UInt32 { 10 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777777777727 }
    }
    /// sightline.v1.TrackAction.
    package enum TrackAction {
        /// `broadlog_id`, field 1.
        @inlinable package static var broadlogID: UInt32 { 10 }
        /// `delivery_id`, field 2.
        @inlinable package static var deliveryID: UInt32 { 18 }
        /// `action`, field 3.
        @inlinable package static var action: UInt32 { 24 }
        /// `acs_delivery_tracking`, field 4.
        @inlinable package static var acsDeliveryTracking: UInt32 { 34 }
        /// `product`, field 5.
        @inlinable package static var product: UInt32 { 40 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777777020227 }
    }
    /// sightline.v1.InAppInteraction.
    package enum InAppInteraction {
        /// `message_id`, field 1.
        @inlinable package static var messageID: UInt32 { 10 }
        /// `campaign_name`, field 2.
        @inlinable package static var campaignName: UInt32 { 18 }
        /// `test_message`, field 3.
        @inlinable package static var testMessage: UInt32 { 24 }
        /// `app_data`, field 4.
        @inlinable package static var appData: UInt32 { 34 }
        /// `trigger_event`, field 5.
        @inlinable package static var triggerEvent: UInt32 { 42 }
        /// `display_suppressed`, field 6.
        @inlinable package static var displaySuppressed: UInt32 { 48 }
        /// `data_collection_enabled`, field 7.
        @inlinable package static var dataCollectionEnabled: UInt32 { 56 }
        /// `trigger_kind`, field 8.
        @inlinable package static var triggerKind: UInt32 { 64 }
        /// `layout`, field 9.
        @inlinable package static var layout: UInt32 { 72 }
        /// `impression`, field 10.
        @inlinable package static var impression: UInt32 { 82 }
        /// `click`, field 11.
        @inlinable package static var click: UInt32 { 90 }
        /// `dismissal`, field 12.
        @inlinable package static var dismissal: UInt32 { 98 }
        /// `display_error`, field 13.
        @inlinable package static var displayError: UInt32 { 106 }
        /// `triggered`, field 14.
        @inlinable package static var triggered: UInt32 { 114 }
        /// `suppressed`, field 15.
        @inlinable package static var suppressed: UInt32 { 122 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777772222220000220227 }
    }
    /// sightline.v1.InAppClick.
    package enum InAppClick {
        /// `action_text`, field 1.
        @inlinable package static var actionText: UInt32 { 10 }
        /// `action_url`, field 2.
        @inlinable package static var actionURL: UInt32 { 18 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777777777227 }
    }
    /// sightline.v1.InAppDismissal.
    package enum InAppDismissal {
        /// `type`, field 1.
        @inlinable package static var type: UInt32 { 8 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777777777707 }
    }
    /// sightline.v1.InAppDisplayError.
    package enum InAppDisplayError {
        /// `reason`, field 1.
        @inlinable package static var reason: UInt32 { 8 }
        /// `fetch_reason`, field 2.
        @inlinable package static var fetchReason: UInt32 { 16 }
        /// `detail`, field 3.
        @inlinable package static var detail: UInt32 { 26 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777777772007 }
    }
    /// sightline.v1.PushSend.
    package enum PushSend {
        /// `delivery_id`, field 1.
        @inlinable package static var deliveryID: UInt32 { 10 }
        /// `broadlog_id`, field 2.
        @inlinable package static var broadlogID: UInt32 { 18 }
        /// `product`, field 3.
        @inlinable package static var product: UInt32 { 24 }
        /// `outcome`, field 4.
        @inlinable package static var outcome: UInt32 { 32 }
        /// `reason`, field 5.
        @inlinable package static var reason: UInt32 { 40 }
        /// `provider_code`, field 6.
        @inlinable package static var providerCode: UInt32 { 50 }
        /// `provider_message_id`, field 7.
        @inlinable package static var providerMessageID: UInt32 { 58 }
        /// `attempt`, field 8.
        @inlinable package static var attempt: UInt32 { 64 }
        /// `display`, field 9.
        @inlinable package static var display: UInt32 { 72 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777770022000227 }
    }
    /// sightline.v1.PayloadIds.
    package enum PayloadIds {
        /// `delivery_id`, field 1.
        @inlinable package static var deliveryID: UInt32 { 10 }
        /// `message_id`, field 2.
        @inlinable package static var messageID: UInt32 { 18 }
        /// The wire type of each field, in the octal digit of its number from the right; 7 for none.
        @inlinable package static var wireTypes: UInt64 { 0o777777777777777777227 }
    }
    /// sightline.v1.StreamEventsRequest.
    package enum StreamEventsRequest {
        /// `sequence`, field 1.
        @inlinable package static var sequence: UInt32 { 8 }
        /// `events`, field 2.
        @inlinable package static var events: UInt32 { 18 }
        /// `options`, field 3.
        @inlinable package static var options: UInt32 { 26 }
    }
    /// sightline.v1.StreamOptions.
    package enum StreamOptions {
        /// `report_accepted`, field 1.
        @inlinable package static var reportAccepted: UInt32 { 8 }
    }
    /// sightline.v1.RecordEventsRequest.
    package enum RecordEventsRequest {
        /// `events`, field 1.
        @inlinable package static var events: UInt32 { 10 }
    }
    /// sightline.v1.TrackingRecord.
    package enum TrackingRecord {
        /// `hit_id`, field 1.
        @inlinable package static var hitID: UInt32 { 10 }
        /// `kind`, field 2.
        @inlinable package static var kind: UInt32 { 16 }
        /// `campaign_action`, field 3.
        @inlinable package static var campaignAction: UInt32 { 24 }
        /// `delivery_id`, field 4.
        @inlinable package static var deliveryID: UInt32 { 34 }
        /// `broadlog_id`, field 5.
        @inlinable package static var broadlogID: UInt32 { 42 }
        /// `receive_time`, field 6.
        @inlinable package static var receiveTime: UInt32 { 50 }
        /// `tenant`, field 7.
        @inlinable package static var tenant: UInt32 { 58 }
        /// `trace_context`, field 8.
        @inlinable package static var traceContext: UInt32 { 66 }
        /// `warnings`, field 9.
        @inlinable package static var warnings: UInt32 { 74 }
        /// `source`, field 10.
        @inlinable package static var source: UInt32 { 80 }
        /// `event`, field 15.
        @inlinable package static var event: UInt32 { 122 }
    }
    /// sightline.v1.DeliverRequest.
    package enum DeliverRequest {
        /// `hello`, field 1.
        @inlinable package static var hello: UInt32 { 10 }
        /// `batch`, field 2.
        @inlinable package static var batch: UInt32 { 18 }
        /// `erase`, field 3.
        @inlinable package static var erase: UInt32 { 26 }
    }
    /// sightline.v1.RecordBatch.
    package enum RecordBatch {
        /// `records`, field 1.
        @inlinable package static var records: UInt32 { 10 }
        /// `groups`, field 2.
        @inlinable package static var groups: UInt32 { 18 }
        /// `end`, field 3.
        @inlinable package static var end: UInt32 { 26 }
        /// `awaits_ack`, field 4.
        @inlinable package static var awaitsAck: UInt32 { 32 }
    }
    /// sightline.v1.GroupPart.
    package enum GroupPart {
        /// `sequence`, field 1.
        @inlinable package static var sequence: UInt32 { 8 }
        /// `first_index`, field 2.
        @inlinable package static var firstIndex: UInt32 { 16 }
        /// `count`, field 3.
        @inlinable package static var count: UInt32 { 24 }
    }
    /// sightline.v1.Position.
    package enum Position {
        /// `sequence`, field 1.
        @inlinable package static var sequence: UInt32 { 8 }
        /// `index`, field 2.
        @inlinable package static var index: UInt32 { 16 }
        /// `check`, field 3.
        @inlinable package static var check: UInt32 { 29 }
    }
    /// An entry of a map of strings.
    package enum MapEntry {
        /// `key`, field 1.
        @inlinable package static var key: UInt32 { 10 }
        /// `value`, field 2.
        @inlinable package static var value: UInt32 { 18 }
    }
}
