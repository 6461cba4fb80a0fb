// The funnels of the busiest deliveries, in bounded memory, counted as hits pass to a sink.
internal import Glibc
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
            var last = LastEvent()
            do {
                try batch.forEach { position, hit in
                    guard !refused.contains(position) else { return }
                    state.count(hit, &last)
                }
            } catch {
                // A damaged payload: the forwarder keeps it as a dead letter and says so.
            }
        }
    }
}

/// The event of the hit before, and the place of its funnel: an event's hits follow each other, and
/// so do a delivery's often.
private struct LastEvent {
    var event: UnsafeRawPointer?
    var tenant = Bytes(start: nil, count: 0)
    var deliveryID = Bytes(start: nil, count: 0)
    var isInApp = false
    var isIOS = false
    var place = 0
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

    mutating func count(_ hit: Hit, _ last: inout LastEvent) {
        if last.event != hit.event.baseAddress {
            // Admission has read the event: this does not fail.
            guard let delivery = try? DeliveryView(hit.event) else { return }
            self.find(delivery, of: hit, &last)
        }
        self.funnels[last.place].count(hit.kind, isIOS: last.isIOS)
    }

    private mutating func find(
        _ delivery: DeliveryView, of hit: Hit, _ last: inout LastEvent
    ) {
        let isInApp = hit.product == .firebase
        let isSame =
            last.event != nil && last.isInApp == isInApp
            && last.deliveryID.holdsSame(as: delivery.deliveryID)
            && last.tenant.holdsSame(as: hit.origin.tenant)
        last.event = hit.event.baseAddress
        last.isIOS = delivery.isIOS
        if isSame { return }
        last.tenant = hit.origin.tenant
        last.deliveryID = delivery.deliveryID
        last.isInApp = isInApp
        last.place = self.place(of: last)
    }

    private mutating func place(of event: LastEvent) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: event.tenant)
        hasher.combine(event.isInApp)
        hasher.combine(bytes: event.deliveryID)
        let hash = hasher.finalize()
        if let place = self.places[hash] { return place }
        let place = self.funnels.count < self.capacity ? self.funnels.count : self.leastBusy()
        let isNew = place == self.funnels.count
        let funnel = DeliveryFunnel(
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

extension UnsafeRawBufferPointer {
    fileprivate func holdsSame(as other: Bytes) -> Bool {
        guard self.count == other.count else { return false }
        guard let base = self.baseAddress, let otherBase = other.baseAddress else { return true }
        return base == otherBase || memcmp(base, otherBase, self.count) == 0
    }
}
