// The limits on one request and one event (design section 8, D42).

/// Sizes that a request and an event are held to. Bytes unless said otherwise.
package struct Limits: Sendable, Equatable {
    /// Bytes of a request.
    package var requestBytes = 512 * 1024
    /// Events in a request.
    package var requestEvents = 2000
    /// Bytes of an event.
    package var eventBytes = 16 * 1024

    /// Bytes of event_id, delivery_id and broadlog_id. Fixed by D42.
    package static let idBytes = 64
    /// Bytes of app_id, subject_id, action_identifier, campaign_name, in-app message_id and
    /// trigger_event. Fixed by D42.
    package static let nameBytes = 256
    /// Entries of custom fields or app data. Fixed by D42.
    package static let mapEntries = 64
    /// Bytes of a map's key. Fixed by D42.
    package static let mapKeyBytes = 64
    /// Bytes of a map's value. Fixed by D42.
    package static let mapValueBytes = 1024

    /// Every value at its default.
    package init() {}
}
