package import Foundation
package import SightlineProtos
package import TrackingCore

/// Converts a payload's JSON, as devices and push testers show it, to the contract's messages. It
/// does not validate: ids that are missing or malformed are left to the server. It throws a
/// `PayloadError` for anything that the contract cannot represent.
package struct PayloadReader: Sendable {
    /// The maximum bytes of JSON, far above the limit of an event.
    package static let maximumByteCount = JSONValue.maximumByteCount

    /// Creates a reader; it has no state.
    package init() {}

    /// An event with the payload, platform and interaction. The caller sets `event_id` and
    /// `occur_time`.
    ///
    /// - Throws: `PayloadError`.
    package func event(
        from data: Data, platform: Platform,
        interaction: Sightline_V1_PushInteractionKind
    ) throws(PayloadError) -> Sightline_V1_TrackingEvent {
        var push = Sightline_V1_PushInteraction()
        push.kind = interaction
        var event = Sightline_V1_TrackingEvent()
        switch platform {
        case .android:
            push.fcm = try self.fcmPayload(from: data)
            event.platform = .android
        case .ios:
            push.apns = try self.apnsPayload(from: data)
            event.platform = .ios
        }
        event.push = push
        return event
    }

    /// Parses the JSON.
    ///
    /// - Throws: `PayloadError` if it is malformed, too large, or nested deeper than
    ///   `JSONValue.maximumDepth`.
    package func value(from data: Data) throws(PayloadError) -> JSONValue {
        guard data.count <= Self.maximumByteCount else {
            throw PayloadError.tooLarge(byteCount: data.count, limit: Self.maximumByteCount)
        }
        do {
            return try JSONValue(payload: Array(data))
        } catch {
            throw .malformed(reason: error.reason)
        }
    }

    /// Converts an iOS payload. A flag that is not a string counts as absent, as in the vendor's
    /// client.
    ///
    /// - Throws: `PayloadError`.
    package func apnsPayload(
        from data: Data
    ) throws(PayloadError) -> Sightline_V1_ApnsPayload {
        var fields = try self.fields(from: data)
        var payload = Sightline_V1_ApnsPayload()
        if let aps = try self.aps(in: &fields) { payload.aps = aps }
        payload.deliveryID = try fields.takeString("_dId")
        payload.messageID = try fields.takeString("_mId")
        if let flag = fields.takeRaw("_acsDeliveryTracking")?.stringValue {
            payload.acsDeliveryTracking = flag
        }
        payload.mediaAttachmentURL = try fields.takeString("media-attachment-url")
        payload.uri = try fields.takeString("uri")
        payload.customFields = fields.customFields()
        return payload
    }

    /// Converts an Android payload. On the device all data values are strings, so a flag of another
    /// type becomes its JSON text, which the server treats as an unknown flag.
    ///
    /// - Throws: `PayloadError`.
    package func fcmPayload(
        from data: Data
    ) throws(PayloadError) -> Sightline_V1_FcmPayload {
        var fields = try self.fields(from: data)
        var payload = Sightline_V1_FcmPayload()
        payload.collapseKey = try fields.takeString("collapseKey")
        payload.priority = try fields.takeString("priority")
        payload.to = try fields.takeString("to")
        if let inner = try fields.takeObject("data") {
            payload.data = try self.fcmData(inner)
        }
        try fields.finish(
            rule: "A payload of Android has collapseKey, priority, to and data at the top level, "
                + "and what the app is to see is inside data")
        return payload
    }

    private func fcmData(
        _ members: PayloadFields
    ) throws(PayloadError) -> Sightline_V1_FcmData {
        var fields = members
        var data = Sightline_V1_FcmData()
        data.deliveryID = try fields.takeString("_dId")
        data.messageID = try fields.takeString("_mId")
        if let flag = fields.takeRaw("_acsDeliveryTracking") {
            data.acsDeliveryTracking = flag.stringValue ?? flag.text
        }
        data.title = try fields.takeString("title")
        data.body = try fields.takeString("body")
        data.category = try fields.takeString("category")
        data.sound = try fields.takeString("sound")
        data.uri = try fields.takeString("uri")
        data.mediaAttachmentURL = try fields.takeString("media-attachment-url")
        if let badge = try fields.takeBadge() { data.badge = badge }
        data.customFields = fields.customFields()
        return data
    }

    private func aps(
        in payload: inout PayloadFields
    ) throws(PayloadError) -> Sightline_V1_Aps? {
        guard var fields = try payload.takeObject("aps") else { return nil }
        var aps = Sightline_V1_Aps()
        if let alert = try self.alert(in: &fields) { aps.alert = alert }
        if let badge = try fields.takeBadge() { aps.badge = badge }
        aps.sound = try fields.takeString("sound")
        aps.category = try fields.takeString("category")
        aps.contentAvailable = try fields.takeSwitch("content-available")
        aps.mutableContent = try fields.takeSwitch("mutable-content")
        try fields.finish(
            rule: "aps has alert, badge, sound, category, content-available and mutable-content, "
                + "and ids and custom fields are at the top level")
        return aps
    }

    /// Converts the alert; a string is its body, as Apple defines.
    private func alert(
        in aps: inout PayloadFields
    ) throws(PayloadError) -> Sightline_V1_Alert? {
        var alert = Sightline_V1_Alert()
        if let body = aps.takeText("alert") {
            alert.body = body
            return alert
        }
        guard var fields = try aps.takeObject("alert") else { return nil }
        alert.title = try fields.takeString("title")
        alert.body = try fields.takeString("body")
        try fields.finish(
            rule: "alert has title and body, and ids and custom fields are at the top level")
        return alert
    }

    private func fields(from data: Data) throws(PayloadError) -> PayloadFields {
        let value = try self.value(from: data)
        guard let members = value.objectValue else {
            throw PayloadError.malformed(reason: "it is \(value.described), not an object")
        }
        return PayloadFields(members, path: "")
    }
}
