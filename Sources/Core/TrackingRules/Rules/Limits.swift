package import ConfigurationKeys

/// The size limits of a request and an event (D42).
package struct Limits: KeyedConfiguration, Equatable {
    /// The maximum bytes of a request.
    package var requestBytes = 512 * 1024
    /// The maximum number of events in a request.
    package var requestEvents = 2000
    /// The maximum bytes of an event.
    package var eventBytes = 16 * 1024
    /// The maximum bytes of a raw payload: twice what the push services take.
    package var rawPayloadBytes = 8 * 1024
    /// The levels of objects and arrays that a raw payload may nest.
    package var rawPayloadLevels = 32

    /// Bytes of event_id, delivery_id and broadlog_id. Fixed by D42.
    package static let idBytes = 64
    /// Bytes of app_id, subject_id, action_identifier, campaign_name, in-app message_id,
    /// trigger_event and a display error's detail. Fixed by D42.
    package static let nameBytes = 256
    /// Bytes of app_version, os_version and sdk_version. Fixed by D65.
    package static let versionBytes = 32
    /// Entries of custom fields or app data. Fixed by D42.
    package static let mapEntries = 64
    /// Bytes of a map's key. Fixed by D42.
    package static let mapKeyBytes = 64
    /// Bytes of a map's value. Fixed by D42.
    package static let mapValueBytes = 1024

    /// Creates the default limits.
    package init() {}

    /// Keys in the section `limits`.
    package static let keys: [Key] = [
        .number("limits.request_bytes", \.requestBytes, 1...(900 << 10), "bytes of a request"),
        .number("limits.request_events", \.requestEvents, 1...100_000, "events in a request"),
        .number("limits.event_bytes", \.eventBytes, 1...(512 << 10), "bytes of an event"),
        .number(
            "limits.raw_payload_bytes", \.rawPayloadBytes, 1...(64 << 10),
            "bytes of a raw payload"),
        .number(
            "limits.raw_payload_levels", \.rawPayloadLevels, 1...100,
            "levels of objects and arrays in a raw payload"),
    ]
}
