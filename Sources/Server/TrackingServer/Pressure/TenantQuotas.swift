package import ConfigurationKeys
internal import Credentials
internal import HTTP2Edge
package import ServerConfiguration
internal import Synchronization

/// The quotas of all tenants and their use, in a bounded table.
package final class TenantQuotas: Sendable {
    private let table: Mutex<Table>
    private let now: @Sendable () -> UInt64

    fileprivate struct Table {
        var configuration: QuotaConfiguration
        /// The quotas that the file gives single tenants.
        var named: [Tenant: Quota]
        var used: [Tenant: TenantQuota] = [:]
        /// Shared by all tenants beyond the table's limit.
        let others: TenantQuota
        /// When a sweep last found no unused quota.
        var failedSweep: UInt64?
    }

    /// Creates quotas from the configuration.
    ///
    /// - Parameter now: a monotonic clock in nanoseconds; tests substitute it.
    /// - Throws: `ConfigurationError` with the problems of the file.
    package convenience init(_ configuration: QuotaConfiguration) throws(ConfigurationError) {
        try self.init(configuration, now: MonotonicClock.nanoseconds)
    }

    init(
        _ configuration: QuotaConfiguration, now: @escaping @Sendable () -> UInt64
    ) throws(ConfigurationError) {
        self.now = now
        let named = try QuotaFile.quotas(configuration)
        self.table = Mutex(
            Table(
                configuration: configuration, named: named,
                others: TenantQuota(
                    configuration.standard, maxStreamWait: configuration.maxStreamWait, now: now)))
    }

    /// The quota of a call's tenant, looked up once per call; nil if nothing is limited and no file
    /// could change that later.
    func quota(of tenant: Tenant) -> TenantQuota? {
        self.table.withLock { table -> TenantQuota? in
            let configuration = table.configuration
            if configuration.file.isEmpty, configuration.standard.isUnlimited { return nil }
            if let quota = table.used[tenant] { return quota }
            if table.used.count >= configuration.maxTenants, !table.sweep(now: self.now()) {
                return table.others
            }
            let quota = TenantQuota(
                table.named[tenant] ?? configuration.standard,
                maxStreamWait: configuration.maxStreamWait, now: self.now)
            table.used[tenant] = quota
            return quota
        }
    }

    /// Reads the file again and applies the new rates to open calls too.
    ///
    /// - Throws: `ConfigurationError` with the problems of the file; then the old quotas stay.
    package func reload() throws(ConfigurationError) {
        try self.prepare(self.table.withLock { $0.configuration })()
    }

    /// Reads the file of a new configuration.
    ///
    /// - Returns: a closure that applies it. Open calls get the new rates, except those that began
    ///   while nothing was limited.
    /// - Throws: `ConfigurationError` with the problems of the file.
    package func prepare(
        _ configuration: QuotaConfiguration
    ) throws(ConfigurationError) -> @Sendable () -> Void {
        let named = try QuotaFile.quotas(configuration)
        return { self.change(to: configuration, named) }
    }

    private func change(to configuration: QuotaConfiguration, _ named: [Tenant: Quota]) {
        self.table.withLock { table in
            table.configuration = configuration
            table.named = named
            let maxWait = configuration.maxStreamWait
            table.others.change(to: configuration.standard, maxStreamWait: maxWait)
            for (tenant, quota) in table.used {
                quota.change(
                    to: named[tenant] ?? configuration.standard, maxStreamWait: maxWait)
            }
        }
    }

    /// The number of tenants in the table.
    var count: Int { self.table.withLock { $0.used.count } }
}

extension TenantQuotas.Table {
    /// Removes unused quotas; returns false if there are none. Runs at most once a second, since
    /// the table may be long.
    fileprivate mutating func sweep(now: UInt64) -> Bool {
        if let last = self.failedSweep, now &- last < 1_000_000_000 { return false }
        let count = self.used.count
        // A copy: while the table's own keys are read its storage is shared, and nothing unique.
        let tenants = Array(self.used.keys)
        for tenant in tenants where self.isUnused(tenant) { self.used[tenant] = nil }
        self.failedSweep = self.used.count < count ? nil : now
        return self.used.count < count
    }

    /// Whether a quota is as good as a new one, and no open call has it: that call would share it
    /// with none of the tenant's later ones, and no reload would reach it.
    private mutating func isUnused(_ tenant: Tenant) -> Bool {
        guard self.used[tenant]?.isUnused == true else { return false }
        return isKnownUniquelyReferenced(&self.used[tenant])
    }
}
