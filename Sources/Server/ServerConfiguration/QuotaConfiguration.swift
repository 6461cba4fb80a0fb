// What a tenant may send.
package import ConfigurationKeys

/// The rates that one tenant is held to.
package struct Quota: Sendable, Equatable {
    /// Events per second; 0 is no limit.
    package var eventsPerSecond = 0
    /// Bytes of requests per second; 0 is no limit.
    package var bytesPerSecond = 0
    /// Seconds of these rates that may come at once.
    package var burstSeconds = 1

    /// The highest rate, in events or bytes per second.
    static let maxRate = 1 << 40
    /// The longest burst, in seconds.
    static let maxBurstSeconds = 3600

    /// No limit.
    package init() {}

    /// Whether it limits nothing.
    package var isUnlimited: Bool { self.eventsPerSecond == 0 && self.bytesPerSecond == 0 }
}

/// The quotas of all tenants, as configured.
package struct QuotaConfiguration: KeyedConfiguration {
    /// What tenants get that the file does not name.
    package var standard = Quota()
    /// Path of a YAML file with the quotas of single tenants; empty for none.
    package var file = ""
    /// Tenants whose use is remembered. Those beyond it share one quota.
    package var maxTenants = 10_000
    /// The longest that a stream is slowed by one request before it is ended.
    package var maxStreamWait = Duration.seconds(60)

    /// No limits.
    package init() {}

    /// What a reload does not change: a call looks its quota up once.
    private static let lateQuota =
        "A stream that was opened with no quota and no quotas.file has none until it ends"

    /// The keys `quotas.*`.
    package static let keys: [Key] = [
        .number(
            "quotas.events_per_second", \.standard.eventsPerSecond, 0...Quota.maxRate,
            "events that a tenant may send per second; 0 for no limit. " + Self.lateQuota,
            unit: "events",
            isReloadable: true),
        .number(
            "quotas.bytes_per_second", \.standard.bytesPerSecond, 0...Quota.maxRate,
            "bytes that a tenant may send per second; 0 for no limit. " + Self.lateQuota,
            unit: "bytes",
            isReloadable: true),
        .number(
            "quotas.burst_seconds", \.standard.burstSeconds, 1...Quota.maxBurstSeconds,
            "seconds of its rates that a tenant may send at once", isReloadable: true),
        .text(
            "quotas.file", \.file,
            "YAML file with the quotas of single tenants, at most 4 MiB", isReloadable: true),
        .number(
            "quotas.max_tenants", \.maxTenants, 1...1_000_000,
            "tenants whose use is remembered; those beyond it share one quota", isReloadable: true),
        .duration(
            "quotas.stream_wait_seconds", \.maxStreamWait, 1...3600,
            "longest wait by which a quota slows a stream; one that needs more ends",
            isReloadable: true),
    ]
}
