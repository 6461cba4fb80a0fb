internal import Synchronization

/// A bound on an amount that all tenants share, such as bytes of memory: nobody can take more than
/// a part of it while others want theirs. Each tenant has a share, and in it each connection.
///
/// A lone tenant may have the whole bound. Of N tenants that have something, each may have the N-th
/// part in any case, as of `TenantShares`: its limit is what the others leave, or else that part.
///
/// The connections of a tenant have its limit first come, first served. Where it is used up, each
/// of N that have something may have a quarter of the N-th part in any case. So a tenant exceeds
/// its limit by a quarter of ln N times at most, and no connection is refused because of others.
///
/// To count takes no lock and allocates nothing. A call finds its share once, which takes a lock
/// for the first tenant of a connection, and for every further one.
package final class SharedBound: Sendable {
    /// What a lone connection may have.
    package let bound: Int

    private let amount = Atomic(0)
    /// The tenants that have something.
    private let tenantCount = Atomic(0)
    /// The tenants of the shares that somebody holds, by their names.
    private let tenants = Mutex<[[UInt8]: Entry]>([:])

    private struct Entry {
        let tenant: Tenant
        /// The shares of the tenant that are held.
        var shares = 1
    }

    /// Creates a bound of which nothing is used.
    package init(_ bound: Int) { self.bound = bound }

    /// What all tenants have.
    package var used: Int { self.amount.load(ordering: .relaxed) }

    /// The tenants whose shares are held.
    package var heldTenants: Int { self.tenants.withLock { $0.count } }

    /// The share of a tenant's connection.
    package func share(of name: String.UTF8View, on connection: Connection) -> Share {
        self.share(named: name, on: connection)
    }

    /// The share of a connection whose tenant is not known, by a name that no tenant has.
    package func share(ofStranger name: [UInt8], on connection: Connection) -> Share {
        self.share(named: name, on: connection)
    }

    private func share(named name: some Collection<UInt8>, on connection: Connection) -> Share {
        // Most connections have one tenant.
        if let first = connection.firstShare, first.tenant.name.elementsEqual(name) { return first }
        let share = Share(of: self.hold(Array(name)))
        let first = connection.first.storeIfNil(share)
        return first.tenant === share.tenant ? first : share
    }

    private func hold(_ name: [UInt8]) -> Tenant {
        self.tenants.withLock { tenants -> Tenant in
            if let tenant = tenants[name]?.tenant {
                tenants[name]?.shares += 1
                return tenant
            }
            let tenant = Tenant(name, of: self)
            tenants[name] = Entry(tenant: tenant)
            return tenant
        }
    }

    private func release(_ name: [UInt8]) {
        self.tenants.withLock { tenants in
            tenants[name]?.shares -= 1
            if tenants[name]?.shares == 0 { tenants[name] = nil }
        }
    }

    /// What a tenant has, the same for all its shares.
    fileprivate final class Tenant: Sendable {
        let name: [UInt8]
        let bound: SharedBound
        let amount = Atomic(0)
        /// The shares that have something.
        let shareCount = Atomic(0)

        init(_ name: [UInt8], of bound: SharedBound) {
            self.name = name
            self.bound = bound
        }
    }

    /// A connection, which remembers the share of its first tenant. A further tenant has a share
    /// for each of its calls.
    package final class Connection: Sendable {
        fileprivate let first = AtomicLazyReference<Share>()

        /// Creates a connection of no tenant.
        package init() {}

        /// The share of its first tenant.
        package var firstShare: Share? { self.first.load() }
    }

    /// What a tenant has on a connection.
    package final class Share: Sendable {
        fileprivate let tenant: Tenant
        private let amount = Atomic(0)

        /// A share of a tenant that is held for it.
        fileprivate init(of tenant: Tenant) { self.tenant = tenant }

        deinit { self.tenant.bound.release(self.tenant.name) }

        /// Counts an amount, whether there is room for it or not.
        package func add(_ amount: Int) {
            guard amount > 0 else { return }
            let (tenant, bound) = (self.tenant, self.tenant.bound)
            bound.amount.wrappingAdd(amount, ordering: .relaxed)
            let ofTenant = tenant.amount.wrappingAdd(amount, ordering: .relaxed)
            if Self.begins(ofTenant) { bound.tenantCount.wrappingAdd(1, ordering: .relaxed) }
            let own = self.amount.wrappingAdd(amount, ordering: .relaxed)
            if Self.begins(own) { tenant.shareCount.wrappingAdd(1, ordering: .relaxed) }
        }

        /// Uncounts an amount. Sequentially consistent, as `hasRoom` is: either somebody who waits
        /// for room sees it, or the caller sees afterwards who waits.
        package func remove(_ amount: Int) {
            guard amount > 0 else { return }
            let (tenant, bound) = (self.tenant, self.tenant.bound)
            let own = self.amount.wrappingSubtract(amount, ordering: .sequentiallyConsistent)
            if Self.ends(own) {
                tenant.shareCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            }
            let ofTenant = tenant.amount.wrappingSubtract(
                amount, ordering: .sequentiallyConsistent)
            if Self.ends(ofTenant) {
                bound.tenantCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            }
            bound.amount.wrappingSubtract(amount, ordering: .sequentiallyConsistent)
        }

        /// Counts an amount if there is room for it; false if there is none.
        package func take(_ amount: Int) -> Bool {
            self.add(amount)
            if self.hasRoom() { return true }
            self.remove(amount)
            return false
        }

        /// Whether it has no more than it may have, in percent of that.
        package func hasRoom(percent: Int = 100) -> Bool {
            let tenant = self.tenant.amount.load(ordering: .sequentiallyConsistent)
            let own = self.amount.load(ordering: .sequentiallyConsistent)
            let shares = self.tenant.shareCount.load(ordering: .sequentiallyConsistent)
            return SharedBound.hasRoom(
                own: own, tenant: tenant, limit: self.tenant.bound.limit(of: tenant),
                shares: shares &+ (own > 0 ? 0 : 1), percent: percent)
        }

        private typealias Change = (oldValue: Int, newValue: Int)

        /// Whether there is something now, and was nothing.
        private static func begins(_ change: Change) -> Bool {
            change.oldValue <= 0 && change.newValue > 0
        }

        /// Whether there is nothing now, and was something.
        private static func ends(_ change: Change) -> Bool {
            change.oldValue > 0 && change.newValue <= 0
        }
    }
}

extension SharedBound {
    /// What a tenant that has `part` may have.
    private func limit(of part: Int) -> Int {
        let others = self.amount.load(ordering: .sequentiallyConsistent) &- part
        let tenants =
            self.tenantCount.load(ordering: .sequentiallyConsistent) &+ (part > 0 ? 0 : 1)
        return max(self.bound &- max(0, others), self.bound / max(1, tenants))
    }

    /// The part of its fair share that a connection may have in any case: one in so many.
    private static let fairParts = 4

    /// Whether a share has no more than it may have.
    ///
    /// - Parameters:
    ///   - own: what the share has.
    ///   - tenant: what all shares of its tenant have.
    ///   - limit: what the tenant may have.
    ///   - shares: the number of its shares that have something, and this one.
    ///   - percent: how much of all that is meant.
    package static func hasRoom(
        own: Int, tenant: Int, limit: Int, shares: Int, percent: Int = 100
    ) -> Bool {
        let limit = limit &* percent
        return 100 &* tenant <= limit || own <= limit / (100 &* Self.fairParts &* max(1, shares))
    }
}

extension SharedBound.Share: Hashable {
    /// Whether both are the same.
    package static func == (one: SharedBound.Share, other: SharedBound.Share) -> Bool {
        one === other
    }

    /// Hashes its identity.
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
