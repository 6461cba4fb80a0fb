internal import Glibc
package import SinkKit
internal import Synchronization
internal import TrackingRules
internal import WireFormat

/// Counts the hits of the busiest deliveries in bounded memory, with the Space-Saving algorithm
/// (Metwally, Agrawal, El Abbadi: "Efficient Computation of Frequent and Top-k Elements in Data
/// Streams", ICDT 2005). A delivery without a counter takes over the least busy one's, with its
/// weight as an upper bound of the hits missed. A delivery with more than 1/`capacity` of all hits
/// always has a counter.
package final class LiveFunnels: Sendable {
    /// The maximum number of deliveries with a counter.
    package let capacity: Int
    private let state: Mutex<State>

    /// Creates empty counts.
    package init(capacity: Int) {
        self.capacity = capacity
        self.state = Mutex(State(capacity: capacity))
    }

    /// The number of deliveries with a counter.
    package var count: Int { self.state.withLock { $0.funnels.count } }

    /// The busiest deliveries, busiest first; ties keep their order of arrival.
    package func busiest(_ count: Int) -> [LiveFunnel] {
        let funnels = self.state.withLock { $0.funnels }
        return Array(funnels.sorted { $0.weight > $1.weight }.prefix(count))
    }

    /// The kinds of an event's hits, from `position` on, except the refused ones.
    private static func kinds(
        of event: JournalEvent, at position: inout Int, except refused: Set<Int>
    ) -> HitKinds {
        let first = position
        position += event.kinds.rawValue.nonzeroBitCount
        if refused.isEmpty { return event.kinds }
        let kept = event.kinds.kinds.enumerated().filter { !refused.contains(first + $0.offset) }
        return kept.reduce(into: []) { $0.insert(HitKinds($1.element)) }
    }

    /// Counts a batch's hits, except those at the positions in `refused`.
    package func count(_ batch: HitBatch, except refused: Set<Int> = []) {
        self.state.withLock { state in
            var last = LastDelivery()
            var position = 0
            do {
                try batch.forEachEvent { event, origin in
                    let kinds = Self.kinds(of: event, at: &position, except: refused)
                    state.count(kinds, of: event, origin, &last)
                }
            } catch {
                // A damaged payload: the forwarder stores it as a dead letter and reports it.
            }
        }
    }
}

/// Caches the previous event's delivery and the index of its funnel: consecutive events often
/// belong to the same one.
private struct LastDelivery {
    var tenant = Bytes(start: nil, count: 0)
    var deliveryID = Bytes(start: nil, count: 0)
    var isInApp = false
    var place: Int?
}

private struct State {
    let capacity: Int
    var funnels: [LiveFunnel] = []
    /// Indices into `funnels` by a hash of tenant and delivery, seeded per process. Two deliveries
    /// with the same hash would share a counter: with 100,000, one process in four billion.
    private var places: [Int: Int] = [:]
    private var hashes: [Int] = []
    private var notifications = SeenNotifications()
    /// A lower bound of all weights; funnels before `hand` exceed it.
    private var leastWeight = 0
    private var hand = 0

    init(capacity: Int) { self.capacity = capacity }

    mutating func count(
        _ kinds: HitKinds, of event: JournalEvent, _ origin: Hit.Origin, _ last: inout LastDelivery
    ) {
        // The event was parsed at admission, so this cannot fail.
        guard !kinds.isEmpty, let delivery = try? DeliveryView(event.bytes) else { return }
        let place = self.place(of: delivery, event.product == .firebase, origin.tenant, &last)
        self.funnels[place].count(kinds, isIOS: delivery.isIOS)
        if event.product == .firebase {
            guard kinds.holds(.inAppClick), let action = try? ActionTextView(event.bytes) else {
                return
            }
            self.funnels[place].count(action: action.text)
        } else if !delivery.isIOS {
            self.funnels[place].count(
                firsts: self.notifications.firsts(
                    kinds, of: delivery.broadlogID, delivery: self.hashes[place]))
        }
    }

    private mutating func place(
        of delivery: DeliveryView, _ isInApp: Bool, _ tenant: Bytes, _ last: inout LastDelivery
    ) -> Int {
        if let place = last.place, last.isInApp == isInApp,
            last.deliveryID.holdsSame(as: delivery.deliveryID), last.tenant.holdsSame(as: tenant)
        {
            return place
        }
        last = LastDelivery(tenant: tenant, deliveryID: delivery.deliveryID, isInApp: isInApp)
        let place = self.place(of: last)
        last.place = place
        return place
    }

    private mutating func place(of event: LastDelivery) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: event.tenant)
        hasher.combine(event.isInApp)
        hasher.combine(bytes: event.deliveryID)
        let hash = hasher.finalize()
        if let place = self.places[hash] { return place }
        let place = self.funnels.count < self.capacity ? self.funnels.count : self.leastBusy()
        let isNew = place == self.funnels.count
        let funnel = LiveFunnel(
            tenant: event.tenant.text, deliveryID: event.deliveryID.text, isInApp: event.isInApp,
            missed: isNew ? 0 : self.funnels[place].weight)
        if isNew {
            self.funnels.append(funnel)
            self.hashes.append(hash)
        } else {
            self.places[self.hashes[place]] = nil
            self.funnels[place] = funnel
            self.hashes[place] = hash
        }
        self.places[hash] = place
        return place
    }

    /// The index of a funnel with the least weight. Weights only grow, so the hand continues where
    /// it last found one, and the least weight is computed again only after a full round.
    private mutating func leastBusy() -> Int {
        while true {
            while self.hand < self.funnels.count {
                if self.funnels[self.hand].weight == self.leastWeight { return self.hand }
                self.hand &+= 1
            }
            self.hand = 0
            self.leastWeight = self.funnels.lazy.map(\.weight).min() ?? 0
        }
    }
}

extension UnsafeRawBufferPointer {
    func holdsSame(as other: Bytes) -> Bool {
        guard self.count == other.count else { return false }
        guard let base = self.baseAddress, let otherBase = other.baseAddress else { return true }
        return base == otherBase || memcmp(base, otherBase, self.count) == 0
    }
}
