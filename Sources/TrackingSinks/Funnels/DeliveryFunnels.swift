// The funnels of the busiest deliveries, in bounded memory, counted as hits pass to a sink.
internal import Synchronization
internal import TrackingCore

/// Counts hits by delivery with the Space-Saving algorithm (Metwally, Agrawal, El Abbadi:
/// "Efficient Computation of Frequent and Top-k Elements in Data Streams", ICDT 2005): a delivery
/// that has no counter takes the least busy one's, and with it the most that it can have missed. A
/// delivery with more than 1/`capacity` of all hits always has a counter.
package final class DeliveryFunnels: Sendable {
    /// Deliveries that are counted at once.
    package let capacity: Int
    private let state: Mutex<State>

    /// No counts yet.
    package init(capacity: Int) {
        self.capacity = capacity
        self.state = Mutex(State(capacity: capacity))
    }

    /// Deliveries that are counted now.
    package var count: Int { self.state.withLock { $0.funnels.count } }

    /// The busiest deliveries, the busiest first; of two alike the one that came first.
    package func busiest(_ count: Int) -> [DeliveryFunnel] {
        let funnels = self.state.withLock { $0.funnels }
        return Array(funnels.sorted { $0.weight > $1.weight }.prefix(count))
    }

    /// Counts a batch's hits, but for those at the positions that a sink has refused.
    package func count(_ batch: HitBatch, except refused: Set<Int> = []) {
        self.state.withLock { state in
            var events = EventMemory()
            do {
                try batch.forEach { position, hit in
                    guard !refused.contains(position), let event = events.view(of: hit) else {
                        return
                    }
                    state.count(hit, of: event)
                }
            } catch {
                // A damaged payload: the forwarder keeps it as a dead letter and says so.
            }
        }
    }
}

/// The last event that was read: an event's hits follow each other.
private struct EventMemory {
    private var base: UnsafeRawPointer?
    private var event: EventView?

    mutating func view(of hit: Hit) -> EventView? {
        if self.base != hit.event.baseAddress {
            self.base = hit.event.baseAddress
            // Admission has read the event with this very view: it does not fail.
            self.event = try? EventView(hit.event)
        }
        return self.event
    }
}

private struct State {
    let capacity: Int
    var funnels: [DeliveryFunnel] = []
    /// Places in `funnels` by a hash of tenant and delivery, seeded anew in each process. Two with
    /// one hash would share a counter; among 100,000 that happens once in four billion runs.
    private var places: [Int: Int] = [:]
    private var hashes: [Int] = []
    /// No funnel weighs less than this, and none before the hand weighs just that.
    private var leastWeight = 0
    private var hand = 0

    init(capacity: Int) { self.capacity = capacity }

    mutating func count(_ hit: Hit, of event: EventView) {
        let isIOS = event.effectivePlatform == .ios
        let place = self.place(of: hit, event)
        self.funnels[place].count(hit.kind, isIOS: isIOS)
    }

    private mutating func place(of hit: Hit, _ event: EventView) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: hit.origin.tenant)
        hasher.combine(hit.product == .firebase)
        hasher.combine(bytes: event.deliveryID)
        let hash = hasher.finalize()
        if let place = self.places[hash] { return place }
        let place = self.funnels.count < self.capacity ? self.funnels.count : self.leastBusy()
        let isNew = place == self.funnels.count
        let funnel = DeliveryFunnel(
            tenant: hit.origin.tenant.text, deliveryID: event.deliveryID.text,
            isInApp: hit.product == .firebase,
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

    /// The place of a funnel of the least weight. Weights only rise, so the hand goes on from where
    /// it last found one, and only where it finds none is the least weight looked for anew.
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
