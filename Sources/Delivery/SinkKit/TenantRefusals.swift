/// Counts by tenant what a backend refuses, so that no tenant's hits stop a sink for the others.
///
/// Up to a limit each refused hit is found alone. If a tenant has more, either its hits are wrong,
/// or the backend refuses whatever comes. A hit that it has accepted meanwhile decides that;
/// without one, the sink asks the backend. The hits of a tenant to blame are refused together,
/// which costs the others little, until the backend accepts some of them.
package struct TenantRefusals: Sendable {
    /// The maximum number of tenants in each of the two tables. A table that is full is emptied:
    /// then its tenants have as many refusals found alone again.
    package static let maxTenants = 10_000

    /// What follows from a refused hit.
    package enum Consequence: Sendable {
        /// It is one of those that its tenant may have.
        case few
        /// It is one too many, and the backend accepts hits: the tenant is to blame from now on.
        case blamed
        /// It is one too many, and since the first one the backend has accepted nothing.
        case doubtful
    }

    private struct Count {
        var refused = 0
        /// `acceptances` before the first of them.
        let start: UInt64
    }

    private let limit: Int
    private var counts: [[UInt8]: Count] = [:]
    /// How often the backend has accepted something.
    private var acceptances: UInt64 = 0
    /// The tenants whose hits are refused together.
    package private(set) var blamed: Set<[UInt8]> = []

    /// Creates counts of zero.
    ///
    /// - Parameter limit: how many hits of a tenant are found alone.
    package init(limit: Int) { self.limit = limit }

    /// Counts a hit that was refused alone.
    package mutating func refuse(_ tenant: [UInt8]) -> Consequence {
        if self.blamed.contains(tenant) { return .few }
        if self.counts[tenant] == nil, self.counts.count >= Self.maxTenants {
            self.counts.removeAll()
        }
        var count = self.counts[tenant] ?? Count(start: self.acceptances)
        guard count.refused >= self.limit else {
            count.refused += 1
            self.counts[tenant] = count
            return .few
        }
        if count.start == self.acceptances { return .doubtful }
        self.blame(tenant)
        return .blamed
    }

    /// Blames a tenant, because the backend is right.
    package mutating func blame(_ tenant: [UInt8]) {
        if self.blamed.count >= Self.maxTenants { self.blamed.removeAll() }
        self.counts[tenant] = nil
        self.blamed.insert(tenant)
    }

    /// Notes that the backend has accepted a tenant's hit, which ends the tenant's count.
    package mutating func accept(_ tenant: [UInt8]) {
        self.acceptances &+= 1
        self.counts[tenant] = nil
        self.blamed.remove(tenant)
    }

    /// Notes that the backend accepts hits, of whichever tenant; counts continue.
    package mutating func acceptSome() { self.acceptances &+= 1 }

    /// Begins a batch, where the limit is that of one batch. A count continues if the backend has
    /// accepted nothing since.
    package mutating func beginBatch() {
        let acceptances = self.acceptances
        self.counts = self.counts.filter { $0.value.start == acceptances }
    }
}
