package import Foundation
internal import JSON
package import SightlineProtos
package import TrackingRules

/// Makes events of payloads in JSON, as devices and push testers show them. It does not validate:
/// ids that are missing or malformed are left to the server.
package struct PayloadReader: Sendable {
    /// The maximum bytes of JSON, far above what the server takes of one payload.
    package static let maximumByteCount = JSONValue.maximumByteCount

    /// Creates a reader; it has no state.
    package init() {}

    /// An event with the payload, platform and interaction. The payload is typed where the typed
    /// messages hold all of it, and raw where they do not. The caller sets `event_id` and
    /// `occur_time`.
    ///
    /// - Throws: `PayloadError`.
    package func event(
        from data: Data, platform: Platform,
        interaction: Sightline_V1_PushInteractionKind
    ) throws(PayloadError) -> Sightline_V1_TrackingEvent {
        let document = try self.document(from: data)
        guard let members = document.value.objectValue else {
            throw .malformed(reason: "it is \(document.value.described), not an object")
        }
        var event = Sightline_V1_TrackingEvent()
        event.platform = platform == .ios ? .ios : .android
        event.push.kind = interaction
        event.push.raw.json = data
        guard document.isTyped(platform) else { return event }
        do throws(NoFieldError) {
            switch platform {
            case .android: event.push.fcm = try self.fcmPayload(PayloadFields(members))
            case .ios: event.push.apns = try self.apnsPayload(PayloadFields(members))
            }
        } catch {
            // It stays raw.
        }
        return event
    }

    /// Parses the JSON.
    ///
    /// - Throws: `PayloadError` if it is malformed, too large, or nested deeper than
    ///   `JSONValue.maximumDepth`.
    package func document(from data: Data) throws(PayloadError) -> PayloadDocument {
        guard data.count <= Self.maximumByteCount else {
            throw PayloadError.tooLarge(byteCount: data.count, limit: Self.maximumByteCount)
        }
        do {
            return try PayloadDocument(Array(data))
        } catch {
            throw .malformed(reason: error.reason)
        }
    }

    private func apnsPayload(
        _ members: PayloadFields
    ) throws(NoFieldError) -> Sightline_V1_ApnsPayload {
        var fields = members
        var payload = Sightline_V1_ApnsPayload()
        if let aps = try fields.takeObject("aps") { payload.aps = try self.aps(aps) }
        payload.deliveryID = try fields.takeString("_dId")
        payload.messageID = try fields.takeString("_mId")
        if let flag = fields.takeFlag(.ios) { payload.acsDeliveryTracking = flag }
        payload.mediaAttachmentURL = try fields.takeString("media-attachment-url")
        payload.uri = try fields.takeString("uri")
        payload.customFields = try fields.map()
        return payload
    }

    private func fcmPayload(
        _ members: PayloadFields
    ) throws(NoFieldError) -> Sightline_V1_FcmPayload {
        var fields = members
        var payload = Sightline_V1_FcmPayload()
        payload.collapseKey = try fields.takeString("collapseKey")
        payload.priority = try fields.takeString("priority")
        payload.to = try fields.takeString("to")
        if let inner = try fields.takeObject("data") {
            payload.data = try self.fcmData(inner)
        }
        try fields.finish()
        return payload
    }

    private func fcmData(_ members: PayloadFields) throws(NoFieldError) -> Sightline_V1_FcmData {
        var fields = members
        var data = Sightline_V1_FcmData()
        data.deliveryID = try fields.takeString("_dId")
        data.messageID = try fields.takeString("_mId")
        if let flag = fields.takeFlag(.android) { data.acsDeliveryTracking = flag }
        data.title = try fields.takeString("title")
        data.body = try fields.takeString("body")
        data.category = try fields.takeString("category")
        data.sound = try fields.takeString("sound")
        data.uri = try fields.takeString("uri")
        data.mediaAttachmentURL = try fields.takeString("media-attachment-url")
        if let badge = try fields.takeBadge() { data.badge = badge }
        data.customFields = try fields.map()
        return data
    }

    private func aps(_ members: PayloadFields) throws(NoFieldError) -> Sightline_V1_Aps {
        var fields = members
        var aps = Sightline_V1_Aps()
        if let body = fields.takeText("alert") {
            // A string is the alert's body, as Apple defines.
            aps.alert.body = body
        } else if var alert = try fields.takeObject("alert") {
            aps.alert.title = try alert.takeString("title")
            aps.alert.body = try alert.takeString("body")
            fields.putBack(alert, as: "alert")
        }
        if let badge = try fields.takeBadge() { aps.badge = badge }
        // A dictionary, for a critical alert, has no field and is kept as JSON.
        aps.sound = fields.takeText("sound") ?? ""
        aps.category = try fields.takeString("category")
        aps.contentAvailable = try fields.takeSwitch("content-available")
        aps.mutableContent = try fields.takeSwitch("mutable-content")
        aps.otherFields = try fields.map()
        return aps
    }
}
