/// What tenants have of a bound that all of them share: none can take more than its share while
/// others want theirs. A value: its owner locks it.
///
/// A lone tenant may have the whole bound. Each of N tenants that have something may have the N-th
/// part of it in any case, also where the others have used the bound up. So the sum may exceed the
/// bound by what the first ones took before the others came: it is at most 2 + ln N times as large.
package struct TenantShares: Sendable {
    private let bound: Int
    private var used = 0
    /// What each tenant has. A tenant that has nothing is not in it.
    private var parts: [[UInt8]: Int] = [:]

    /// Creates shares of which none is used.
    package init(bound: Int) { self.bound = bound }

    /// Takes an amount for a tenant, whole or not at all.
    ///
    /// - Parameter amount: 1 or more.
    /// - Returns: false if there is no room for it.
    package mutating func take(_ amount: Int, for tenant: [UInt8]) -> Bool {
        let part = self.parts[tenant]
        let hasRoom = Self.hasRoom(
            for: amount, part: part ?? 0, used: self.used,
            tenants: self.parts.count + (part == nil ? 1 : 0), bound: self.bound)
        guard hasRoom else { return false }
        self.parts[tenant] = (part ?? 0) + amount
        self.used += amount
        return true
    }

    /// Gives back what a tenant has taken, or a part of it.
    package mutating func giveBack(_ amount: Int, of tenant: [UInt8]) {
        guard let part = self.parts[tenant] else { return }
        self.parts[tenant] = part > amount ? part - amount : nil
        self.used -= min(part, amount)
    }

    /// Whether a tenant may have more.
    ///
    /// - Parameters:
    ///   - amount: how much more.
    ///   - part: what it has.
    ///   - used: what all tenants have.
    ///   - tenants: the number of tenants that have something, and this one.
    package static func hasRoom(
        for amount: Int, part: Int, used: Int, tenants: Int, bound: Int
    ) -> Bool {
        used + amount <= bound || part + amount <= bound / max(1, tenants)
    }

    /// What each tenant has to give up, so that the sum of the parts is within a bound: those that
    /// have most give first, so a tenant loses nothing while another one has more.
    package static func excess(of parts: [[UInt8]: Int], over bound: Int) -> [[UInt8]: Int] {
        var excess: [[UInt8]: Int] = [:]
        var left = bound
        let ascending = parts.sorted { one, other in
            one.value == other.value
                ? one.key.lexicographicallyPrecedes(other.key) : one.value < other.value
        }
        for (index, row) in ascending.enumerated() {
            let kept = min(row.value, left / (ascending.count - index))
            left -= kept
            if kept < row.value { excess[row.key] = row.value - kept }
        }
        return excess
    }
}
