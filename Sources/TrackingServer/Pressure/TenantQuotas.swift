// The quotas of all tenants: who is held to what, and what each has used.
internal import Credentials
internal import HTTP2Edge
package import ServerConfiguration
internal import Synchronization
package import TrackingCore

/// A bounded table of tenants' quotas.
package final class TenantQuotas: Sendable {
    private let table: Mutex<Table>
    private let now: @Sendable () -> UInt64

    fileprivate struct Table {
        var configuration: QuotaConfiguration
        /// What the file says of single tenants.
        var named: [Tenant: Quota]
        var used: [Tenant: TenantQuota] = [:]
        /// Shared by all tenants for whom there is no room.
        let others: TenantQuota
        /// When unused quotas were last looked for, and none was found.
        var failedSweep: UInt64?
    }

    /// Quotas as configured.
    ///
    /// - Parameter now: nanoseconds of a monotonic clock; tests bring their own.
    /// - Throws: `ConfigurationError` with what is wrong in the file.
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

    /// The quota that a call's tenant is held to, looked up once per call; nil where nothing is
    /// limited and no file could say otherwise later.
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

    /// Reads the file again. Calls that are open are held to the new rates from now on.
    ///
    /// - Throws: `ConfigurationError` with what is wrong in it; the old quotas hold on then.
    package func reload() throws(ConfigurationError) {
        try self.prepare(self.table.withLock { $0.configuration })()
    }

    /// Reads another configuration's file.
    ///
    /// - Returns: what puts both in force. Calls that are open are held to the new rates from then
    ///   on, but for those that began when nothing at all was limited.
    /// - Throws: `ConfigurationError` with what is wrong in the file.
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

    /// Tenants whose use is remembered now.
    var count: Int { self.table.withLock { $0.used.count } }
}

extension TenantQuotas.Table {
    /// Forgets the tenants that have used nothing of late; false where there is none. Looks at most
    /// once a second: the table may be long.
    fileprivate mutating func sweep(now: UInt64) -> Bool {
        if let last = self.failedSweep, now &- last < 1_000_000_000 { return false }
        let count = self.used.count
        self.used = self.used.filter { !$0.value.isUnused }
        self.failedSweep = self.used.count < count ? nil : now
        return self.used.count < count
    }
}
