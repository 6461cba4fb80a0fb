internal import Pacing

/// Who waits for room in which shares of a bound. A value, which `MemoryBudget` keeps under its
/// lock: each release of bytes asks who may go on.
///
/// A release may leave room to any share, but looks at its own one and at few others, in turn: a
/// tenant with thousands of connections that wait would else slow down each answer of all others.
/// No share is forgotten: one that waits has something, and the release of that looks at it.
struct WaitingShares<Waiter> {
    /// The shares without room that a release looks at besides its own one.
    static var maxBlocked: Int { 8 }

    /// Who waits for a share, and the share's place among all.
    private struct Group {
        var place: Int
        var waiters: [UInt64: Waiter] = [:]
    }

    private var groups: [SharedBound.Share: Group] = [:]
    private var shares: [SharedBound.Share] = []
    /// The place of the share that is looked at next.
    private var next = 0

    /// Adds a waiter with a new id.
    mutating func add(_ waiter: Waiter, id: UInt64, of share: SharedBound.Share) {
        if self.groups[share] == nil {
            self.groups[share] = Group(place: self.shares.count)
            self.shares.append(share)
        }
        self.groups[share]?.waiters[id] = waiter
    }

    /// Removes a waiter; nil if it waits no longer.
    mutating func remove(_ id: UInt64, of share: SharedBound.Share) -> Waiter? {
        let waiter = self.groups[share]?.waiters.removeValue(forKey: id)
        if self.groups[share]?.waiters.isEmpty == true { _ = self.removeAll(of: share) }
        return waiter
    }

    /// Removes those that may go on after a release, as far as it looks.
    ///
    /// - Parameter share: the one that has released something.
    mutating func takeReady(after share: SharedBound.Share) -> [Waiter] {
        var ready = share.hasRoom() ? self.removeAll(of: share) : []
        var blocked = 0
        while blocked < min(Self.maxBlocked, self.shares.count) {
            if self.next >= self.shares.count { self.next = 0 }
            let other = self.shares[self.next]
            if other.hasRoom() {
                ready += self.removeAll(of: other)
            } else {
                blocked += 1
                self.next += 1
            }
        }
        return ready
    }

    private mutating func removeAll(of share: SharedBound.Share) -> [Waiter] {
        guard let group = self.groups.removeValue(forKey: share) else { return [] }
        // The last one takes its place.
        let last = self.shares.removeLast()
        if last != share {
            self.shares[group.place] = last
            self.groups[last]?.place = group.place
        }
        return Array(group.waiters.values)
    }
}
