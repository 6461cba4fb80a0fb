// What a tenant may send.

/// The rates that one tenant is held to.
package struct Quota: Sendable, Equatable {
    /// Events per second; 0 is no limit.
    package var eventsPerSecond = 0
    /// Bytes of requests per second; 0 is no limit.
    package var bytesPerSecond = 0
    /// Seconds of these rates that may come at once.
    package var burstSeconds = 1

    /// No limit.
    package init() {}

    /// Whether it limits nothing.
    package var isUnlimited: Bool { self.eventsPerSecond == 0 && self.bytesPerSecond == 0 }
}

/// The quotas of all tenants, as configured.
package struct QuotaConfiguration: Sendable {
    /// What tenants get that the file does not name.
    package var standard = Quota()
    /// Path of a YAML file with the quotas of single tenants; empty for none.
    package var file = ""
    /// Tenants whose use is remembered. Those beyond it share one quota. Default 10,000.
    package var maxTenants = 10_000
    /// The longest that a stream is slowed by one request before it is ended. Default 60 s.
    package var maxStreamWait = Duration.seconds(60)

    /// No limits.
    package init() {}
}
