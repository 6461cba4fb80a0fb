package import ConfigurationKeys

/// The settings `tap.*`: limits on the readers of verdicts.
package struct TapConfiguration: KeyedConfiguration {
    /// The maximum readers by gRPC; the admin socket has the same limit for its own.
    package var maxReaders = 16
    /// The maximum readers of one tenant by gRPC.
    package var maxReadersPerTenant = 2
    /// The maximum bytes queued for a reader.
    package var queueBytes = 1 << 20
    /// The maximum events per second that a reader sees.
    package var eventsPerSecond = 1000

    /// Creates the default settings.
    package init() {}

    /// The keys `tap.*`.
    package static let keys: [Key] = [
        .number(
            "tap.max_readers", \.maxReaders, 0...1000,
            "readers of verdicts by gRPC at once, of which each of N tenants may have the N-th "
                + "part in any case, and as many at the admin socket; 0 for none",
            unit: "readers"),
        .number(
            "tap.max_readers_per_tenant", \.maxReadersPerTenant, 0...1000,
            "readers of one tenant by gRPC at once", unit: "readers"),
        .number(
            "tap.queue_bytes", \.queueBytes, 1024...(1 << 30),
            "bytes that wait for a reader; beyond them it misses events"),
        .number(
            "tap.events_per_second", \.eventsPerSecond, 1...1_000_000,
            "events per second that a reader is shown; it misses others", unit: "events"),
    ]
}
