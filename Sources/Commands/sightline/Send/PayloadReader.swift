package import Foundation
internal import JSON
package import SightlineProtos
package import TrackingRules

/// Makes events from payloads in JSON, as devices and push testers show them. It does not validate:
/// missing or malformed ids are left to the server.
package struct PayloadReader: Sendable {
    /// The maximum bytes of JSON, far more than the server accepts in one payload.
    package static let maximumByteCount = JSONValue.maximumByteCount

    /// Creates a reader; it has no state.
    package init() {}

    /// An event with the payload's bytes, platform and interaction. The caller sets `event_id` and
    /// `occur_time`.
    ///
    /// The payload is sent raw: the server parses it in the same way as an app's, and a sink gets
    /// each key, and each digit of a number, unchanged.
    ///
    /// - Throws: `PayloadError` if the bytes are not a JSON object.
    package func event(
        from data: Data, platform: Platform,
        interaction: Sightline_V1_PushInteractionKind
    ) throws(PayloadError) -> Sightline_V1_TrackingEvent {
        let document = try self.document(from: data)
        guard document.value.objectValue != nil else {
            throw .malformed(reason: "it is \(document.value.described), not an object")
        }
        var event = Sightline_V1_TrackingEvent()
        event.platform = platform == .ios ? .ios : .android
        event.push.kind = interaction
        event.push.raw.json = data
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
}
