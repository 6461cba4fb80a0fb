/// The keys of a batch, and the kinds that the runs have for them.
final class KeyBatch {
    private(set) var count = 0
    private(set) var keys: UnsafeMutablePointer<IndexKey>
    /// BloomFilter.bits of each key.
    private(set) var bits: UnsafeMutablePointer<UInt64>
    private(set) var known: UnsafeMutablePointer<UInt16>
    /// The numbers of the keys that a run may hold (`SortedRun.candidates`).
    private(set) var found: UnsafeMutablePointer<UInt32>
    private var order: UnsafeMutablePointer<UInt32>
    /// Takes the result of loads, so that the optimizer keeps them.
    var prefetched: UInt64 = 0
    private var isOrdered = false
    private var capacity = 0

    init() {
        self.keys = .allocate(capacity: 0)
        self.bits = .allocate(capacity: 0)
        self.known = .allocate(capacity: 0)
        self.found = .allocate(capacity: 0)
        self.order = .allocate(capacity: 0)
    }

    deinit { self.deallocate() }

    /// Begins a batch of these keys, without kinds.
    func fill(_ keys: [IndexKey]) {
        if keys.count > self.capacity { self.grow(to: keys.count) }
        self.count = keys.count
        self.isOrdered = false
        for index in 0..<keys.count {
            let key = keys[index]
            self.keys[index] = key
            self.bits[index] = BloomFilter.bits(of: key)
            self.known[index] = 0
        }
    }

    /// The keys' indices sorted by key, so that keys of one page are adjacent.
    func sortedNumbers() -> UnsafeMutablePointer<UInt32> {
        guard !self.isOrdered else { return self.order }
        var numbers = UnsafeMutableBufferPointer(start: self.order, count: self.count)
        let keys = self.keys
        for index in 0..<self.count { numbers[index] = UInt32(truncatingIfNeeded: index) }
        numbers.sort { keys[Int($0)] < keys[Int($1)] }
        self.isOrdered = true
        return self.order
    }

    /// Sorts the first numbers of `found` by key.
    func sortFound(_ count: Int) {
        var numbers = UnsafeMutableBufferPointer(start: self.found, count: count)
        let keys = self.keys
        numbers.sort { keys[Int($0)] < keys[Int($1)] }
    }

    private func grow(to capacity: Int) {
        self.deallocate()
        self.capacity = capacity
        self.keys = .allocate(capacity: capacity)
        self.bits = .allocate(capacity: capacity)
        self.known = .allocate(capacity: capacity)
        self.found = .allocate(capacity: capacity)
        self.order = .allocate(capacity: capacity)
    }

    private func deallocate() {
        self.keys.deallocate()
        self.bits.deallocate()
        self.known.deallocate()
        self.found.deallocate()
        self.order.deallocate()
    }
}
