internal import Glibc
package import TrackingRules

/// Decides whether an event is new: holds the marks of the newest `capacity` keys, in bounded
/// memory. A new key evicts the oldest.
///
/// An open-addressing table of 16-byte slots, at most half full, and a ring with the order of
/// arrival. A slot keeps 80 bits of a key: with 2 million keys, two facts collide over the window's
/// life with a probability of 10⁻¹². It takes up pages as it fills: 79 MiB for 2 million keys.
package final class DeduplicationWindow {
    /// The maximum number of keys.
    let capacity: Int
    private let slotMask: Int
    /// Mixed into each key, so that clients who choose keys cannot force collisions.
    private let random: UInt64
    private let shift: UInt64
    private let slots: UnsafeMutablePointer<Slot>
    private let ring: UnsafeMutablePointer<UInt64>
    private var next = 0
    private(set) var count = 0
    /// Stores what `prefetch` has loaded, so that the optimizer keeps the loads.
    private var prefetched: UInt64 = 0

    /// `position` is the key's index in the ring plus one; 0 marks a free slot.
    private struct Slot {
        var high: UInt64
        var position: UInt32
        var low: UInt16
        var marks: UInt16
    }

    /// A key and the marks that it had before a change.
    package struct Change {
        let key: WindowKey
        let before: Marks
        let after: Marks

        /// Whether the window did not hold the key before.
        var isNew: Bool { self.before.isEmpty }
    }

    /// Creates an empty window of `capacity` keys, limited to 1…2³⁰.
    ///
    /// - Parameter random: mixed into the slots of keys; must be secret from clients.
    package init(capacity: Int, random: UInt64 = .random(in: .min ... .max)) {
        self.capacity = min(max(capacity, 1), 1 << 30)
        var slotCount = 2
        while slotCount < self.capacity * 2 { slotCount *= 2 }
        self.slotMask = slotCount - 1
        self.random = random
        self.shift = UInt64(64 - slotCount.trailingZeroBitCount)
        // calloc's pages stay unmapped until they are used: memory grows with the contents.
        guard let slots = calloc(slotCount, MemoryLayout<Slot>.stride),
            let ring = calloc(self.capacity, MemoryLayout<UInt64>.stride)
        else { preconditionFailure("no memory for a deduplication window of \(capacity) keys") }
        self.slots = slots.assumingMemoryBound(to: Slot.self)
        self.ring = ring.assumingMemoryBound(to: UInt64.self)
    }

    deinit {
        free(self.slots)
        free(self.ring)
    }

    /// Settles accepted events in order, and appends each change of marks to `changes`.
    package func settle(_ acceptedEvents: inout [AcceptedEvent], changes: inout [Change]) {
        for index in acceptedEvents.indices {
            let key = WindowKey(acceptedEvents[index].key)
            let known = self.marks(of: key)
            let notification = WindowKey(acceptedEvents[index].notification)
            if key == notification {
                acceptedEvents[index].settle(known: known, notification: known)
                let added = acceptedEvents[index].marks.union(
                    acceptedEvents[index].notificationMarks)
                self.add(added, to: key, known: known, changes: &changes)
            } else {
                let funnel = self.marks(of: notification)
                acceptedEvents[index].settle(known: known, notification: funnel)
                self.add(acceptedEvents[index].marks, to: key, known: known, changes: &changes)
                self.add(
                    acceptedEvents[index].notificationMarks, to: notification, known: funnel,
                    changes: &changes)
            }
        }
    }

    /// The accepted events as settling would leave them; does not change the window.
    func preview(_ acceptedEvents: [AcceptedEvent]) -> [AcceptedEvent] {
        acceptedEvents.map { accepted in
            var accepted = accepted
            accepted.settle(
                known: self.marks(of: WindowKey(accepted.key)),
                notification: self.marks(of: WindowKey(accepted.notification)))
            return accepted
        }
    }

    /// Undoes changes, newest first, after a failed commit.
    func undo(_ changes: [Change]) {
        for change in changes.reversed() {
            guard let index = self.find(change.key) else { continue }
            self.slots[index].marks = change.before.rawValue
        }
    }

    /// The marks of a key; none if the window does not hold it.
    func marks(of key: WindowKey) -> Marks {
        // `[]` would go through a generic initializer for every event.
        guard let index = self.find(key) else { return Marks(rawValue: 0) }
        return Marks(rawValue: self.slots[index].marks)
    }

    /// Sets a key's marks; a new key is inserted as the newest.
    func set(_ marks: Marks, of key: WindowKey) {
        if let index = self.find(key) {
            self.slots[index].marks = marks.rawValue
            return
        }
        if self.count == self.capacity { self.evict(ringIndex: self.next) }
        var index = self.home(key.high)
        while self.slots[index].position != 0 { index = (index &+ 1) & self.slotMask }
        self.slots[index] = Slot(
            high: key.high, position: UInt32(truncatingIfNeeded: self.next &+ 1), low: key.low,
            marks: marks.rawValue)
        self.ring[self.next] = key.high
        self.next = self.next &+ 1 == self.capacity ? 0 : self.next &+ 1
        self.count &+= 1
    }

    private func add(
        _ marks: Marks, to key: WindowKey, known: Marks, changes: inout [Change]
    ) {
        let after = known.union(marks)
        guard after.rawValue != known.rawValue else { return }
        self.set(after, of: key)
        changes.append(Change(key: key, before: known, after: after))
    }

    /// Prefetches each search's first cache line, and the next one, which half of the searches
    /// reach.
    private func prefetch(homes: UnsafeMutableBufferPointer<Int>.SubSequence) -> UInt64 {
        let (slots, mask) = (self.slots, self.slotMask)
        var sum: UInt64 = 0
        for home in homes {
            sum ^= slots[home].high ^ slots[(home &+ Self.slotsInLine) & mask].high
        }
        return sum
    }

    private static let slotsInLine = 64 / MemoryLayout<Slot>.stride

    /// The slot where the search for a key begins.
    func home(_ high: UInt64) -> Int {
        // A factor alone would map evenly spaced keys to evenly spaced slots.
        var mixed = (high ^ self.random) &* 0x9E37_79B9_7F4A_7C15
        mixed ^= mixed &>> 32
        return Int(truncatingIfNeeded: (mixed &* (self.random | 1)) &>> self.shift)
    }

    private func find(_ key: WindowKey) -> Int? {
        var index = self.home(key.high)
        while self.slots[index].position != 0 {
            if self.slots[index].high == key.high, self.slots[index].low == key.low {
                return index
            }
            index = (index &+ 1) & self.slotMask
        }
        return nil
    }

    /// Evicts the ring's key: frees its slot and closes the gap in its probe sequence.
    private func evict(ringIndex: Int) {
        var gap = self.home(self.ring[ringIndex])
        while Int(self.slots[gap].position) != ringIndex &+ 1 { gap = (gap &+ 1) & self.slotMask }
        var index = (gap &+ 1) & self.slotMask
        while self.slots[index].position != 0 {
            let home = self.home(self.slots[index].high)
            // An entry may fill the gap unless its home lies between the gap and the entry.
            if (index &- home) & self.slotMask >= (index &- gap) & self.slotMask {
                self.slots[gap] = self.slots[index]
                gap = index
            }
            index = (index &+ 1) & self.slotMask
        }
        self.slots[gap].position = 0
        self.count &-= 1
    }

    /// Prefetches the slots that the accepted events will use, before the first one is settled: so
    /// the processor loads them in parallel instead of waiting for each.
    ///
    /// - Parameter ahead: accepted events whose slots were prefetched and that are not settled yet.
    func prefetch(_ acceptedEvents: [AcceptedEvent], ahead: Int) {
        var evicted = (self.next &+ ahead) % self.capacity
        let isFull = self.count == self.capacity
        // Compute all homes before loading any: with few instructions between two loads, more of
        // them run in parallel.
        withUnsafeTemporaryAllocation(of: Int.self, capacity: Self.prefetchedAtOnce) { homes in
            var (sum, count): (UInt64, Int) = (0, 0)
            for accepted in acceptedEvents {
                homes[count] = self.home(accepted.key.high)
                count &+= 1
                if isFull {
                    homes[count] = self.home(self.ring[evicted])
                    count &+= 1
                    evicted = evicted &+ 1 == self.capacity ? 0 : evicted &+ 1
                }
                if count &+ 2 > Self.prefetchedAtOnce {
                    sum ^= self.prefetch(homes: homes[..<count])
                    count = 0
                }
            }
            self.prefetched = sum ^ self.prefetch(homes: homes[..<count])
        }
    }

    private static let prefetchedAtOnce = 64
}

/// The 80 bits of a HitKey that the window stores.
struct WindowKey: Equatable {
    let high: UInt64
    let low: UInt16
}

extension WindowKey {
    init(_ key: HitKey) {
        self.init(high: key.high, low: UInt16(truncatingIfNeeded: key.low >> 48))
    }
}
