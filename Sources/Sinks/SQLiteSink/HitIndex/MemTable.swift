internal import Glibc

/// The newest entries of the index: an open-addressing hash table in memory, at most half full. A
/// slot's number rises with the key, so that entries are almost sorted in the order of slots.
///
/// Memory is used as it fills, up to 16 MiB for 524,288 entries.
final class MemTable {
    /// A slot of 16 bytes. It is free if it has no kinds.
    struct Slot {
        var high: UInt64
        var low: UInt32
        var kinds: UInt16
        /// Whether this batch has changed the slot.
        var isChanged: Bool
    }

    /// The maximum number of entries.
    let capacity: Int
    private(set) var count = 0
    /// The number of slots changed since `clearChanges`.
    private(set) var changes = 0
    private let shift: UInt64
    /// The home slots of the keys, and a tail in which probing continues instead of wrapping
    /// around. The tail has room for every entry, and is rarely used.
    private let memory: PageMapping
    private let slots: UnsafeMutablePointer<Slot>
    private let changed: UnsafeMutablePointer<UInt32>
    /// The first slot after the last used one.
    private var end = 0
    /// Takes the result of the loads in `prefetch`, so that the optimizer keeps them.
    private var prefetched: UInt64 = 0

    /// Creates an empty table of `capacity` entries, limited to 1…2³⁰.
    init(capacity: Int) {
        self.capacity = min(max(capacity, 1), 1 << 30)
        var homes = 2
        while homes < self.capacity * 2 { homes *= 2 }
        self.shift = UInt64(64 - homes.trailingZeroBitCount)
        let slotBytes = (homes + self.capacity) * MemoryLayout<Slot>.stride
        guard let memory = PageMapping(byteCount: slotBytes),
            let changed = calloc(self.capacity, MemoryLayout<UInt32>.stride)
        else { preconditionFailure("no memory for \(self.capacity) entries of the index") }
        self.memory = memory
        self.slots = memory.start.assumingMemoryBound(to: Slot.self)
        self.changed = changed.assumingMemoryBound(to: UInt32.self)
    }

    deinit { free(self.changed) }

    /// Adds those of `kinds` that the key has neither here nor in `knownElsewhere`.
    ///
    /// - Returns: the kinds that the key had before.
    /// - Precondition: the key is here, or the table has room.
    func add(_ kinds: UInt16, to key: IndexKey, knownElsewhere: UInt16) -> UInt16 {
        let index = self.slot(of: key)
        let slot = self.slots + index
        let before = knownElsewhere | slot.pointee.kinds
        let added = kinds & ~before
        guard added != 0 else { return before }
        if slot.pointee.kinds == 0 {
            precondition(self.count < self.capacity, "more keys than were announced")
            slot.pointee.high = key.high
            slot.pointee.low = key.low
            self.count &+= 1
            self.end = max(self.end, index &+ 1)
        }
        slot.pointee.kinds |= added
        if !slot.pointee.isChanged {
            slot.pointee.isChanged = true
            self.changed[self.changes] = UInt32(truncatingIfNeeded: index)
            self.changes &+= 1
        }
        return before
    }

    /// Whether `add` may be called.
    func hasRoom(for key: IndexKey) -> Bool {
        self.count < self.capacity || self.slots[self.slot(of: key)].kinds != 0
    }

    /// Loads the slots that the keys will use, in parallel; `add` would wait for each.
    func prefetch(_ keys: UnsafePointer<IndexKey>, _ count: Int) {
        var sum: UInt64 = 0
        for index in 0..<count { sum ^= self.slots[self.home(keys[index].high)].high }
        self.prefetched = sum
    }

    /// Writes the changed entries to `bytes`, which has room for `changes` of them.
    func storeChanges(in bytes: UnsafeMutableRawPointer) {
        for number in 0..<self.changes {
            let slot = self.slots[Int(self.changed[number])]
            IndexEntry.store(
                high: slot.high, low: slot.low, kinds: slot.kinds,
                at: bytes + number &* IndexEntry.byteCount)
        }
    }

    /// Marks every entry as unchanged.
    func clearChanges() {
        for number in 0..<self.changes { self.slots[Int(self.changed[number])].isChanged = false }
        self.changes = 0
    }

    /// Sorts the entries by key, in place: the table must be emptied next.
    func sorted() -> UnsafeBufferPointer<Slot> {
        var filled = 0
        for index in 0..<self.end where self.slots[index].kinds != 0 {
            let slot = self.slots[index]
            var place = filled
            while place > 0, Self.precedes(slot, self.slots[place &- 1]) {
                self.slots[place] = self.slots[place &- 1]
                place &-= 1
            }
            self.slots[place] = slot
            filled &+= 1
        }
        return UnsafeBufferPointer(start: self.slots, count: filled)
    }

    /// Empties the table.
    func removeAll() {
        memset(self.slots, 0, self.end &* MemoryLayout<Slot>.stride)
        (self.count, self.changes, self.end) = (0, 0, 0)
    }

    private static func precedes(_ left: Slot, _ right: Slot) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }

    /// The slot where probing for a key begins.
    func home(_ high: UInt64) -> Int { Int(truncatingIfNeeded: high &>> self.shift) }

    /// The key's slot, or the free one where it is to be inserted.
    func slot(of key: IndexKey) -> Int {
        var index = self.home(key.high)
        while self.slots[index].kinds != 0,
            self.slots[index].high != key.high || self.slots[index].low != key.low
        {
            index &+= 1
        }
        return index
    }
}
