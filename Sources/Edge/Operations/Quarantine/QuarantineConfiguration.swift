package import ConfigurationKeys

/// The settings `quarantine.*`: which refused events are kept, and for how long.
package struct QuarantineConfiguration: KeyedConfiguration {
    /// The maximum bytes of the file; 0 keeps nothing.
    package var maxBytes = 1 << 30
    /// The days that an event is kept.
    package var retainDays = 7
    /// The maximum bytes of events that wait to be written, which tenants share.
    package var queueBytes = 8 << 20

    /// Creates the default settings.
    package init() {}

    /// Whether anything is kept.
    package var isOn: Bool { self.maxBytes > 0 }

    /// The keys `quarantine.*`.
    package static let keys: [Key] = [
        .number(
            "quarantine.max_bytes", \.maxBytes, 0...(1 << 50),
            "bytes of quarantine.db, which keeps rejected events and those with an unknown flag; "
                + "beyond them the oldest of the tenant that has most go first; 0 keeps none"),
        .number(
            "quarantine.retain_days", \.retainDays, 1...3650, "days that they are kept"),
        .number(
            "quarantine.queue_bytes", \.queueBytes, (64 << 10)...(1 << 30),
            "bytes of events that wait to be written there, of which each of N tenants may have "
                + "the N-th part in any case; those beyond are not kept"),
    ]
}
