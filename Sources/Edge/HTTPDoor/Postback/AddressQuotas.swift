internal import HTTP2Edge
internal import Pacing
internal import Synchronization

/// What one address may send, in a bounded table. A tenant's quota alone would let anybody who
/// forges postbacks use it up.
final class AddressQuotas: Sendable {
    private let rate: Int
    private let maxAddresses: Int
    private let now: @Sendable () -> UInt64
    private let table: Mutex<Table>

    /// Addresses that are remembered. Those beyond it share one bucket.
    static let maxAddresses = 10_000

    /// The part of the table that a sweep has to forget at least, or else it was a poor one.
    private static let poorPart = 8

    private struct Table {
        var buckets: [[UInt8]: TokenBucket] = [:]
        var others: TokenBucket
        /// When a sweep last found little to forget.
        var poorSweep: UInt64?
    }

    /// - Parameters:
    ///   - rate: postbacks per second of an address, and as many at once; 0 for no limit.
    ///   - now: a monotonic clock in nanoseconds; tests substitute it.
    init(
        rate: Int, maxAddresses: Int = AddressQuotas.maxAddresses,
        now: @escaping @Sendable () -> UInt64 = MonotonicClock.nanoseconds
    ) {
        self.rate = rate
        self.maxAddresses = maxAddresses
        self.now = now
        self.table = Mutex(Table(others: TokenBucket(rate: rate, burstSeconds: 1, now: now())))
    }

    /// The number of addresses in the table.
    var count: Int { self.table.withLock { $0.buckets.count } }

    /// Whether a peer may send one more, which then counts.
    func takes(_ peer: DoorPeer) -> Bool {
        guard self.rate > 0 else { return true }
        let key = RemotePeer.key(of: peer.address)
        let now = self.now()
        return self.table.withLock { table in
            if table.buckets[key] == nil, table.buckets.count >= self.maxAddresses,
                !Self.sweep(&table, now: now)
            {
                return Self.take(&table.others, now: now)
            }
            let new = TokenBucket(rate: self.rate, burstSeconds: 1, now: now)
            return Self.take(&table.buckets[key, default: new], now: now)
        }
    }

    private static func take(_ bucket: inout TokenBucket, now: UInt64) -> Bool {
        guard bucket.wait(for: 1, now: now) == 0 else { return false }
        bucket.charge(1, now: now)
        return true
    }

    /// Forgets full buckets, which are as good as new; false if there is none. The table may be
    /// long: after a sweep that leaves it nearly full the next one is a second later, so that a new
    /// address costs a few entries at most.
    private static func sweep(_ table: inout Table, now: UInt64) -> Bool {
        if let last = table.poorSweep, now &- last < 1_000_000_000 { return false }
        let count = table.buckets.count
        for (key, bucket) in table.buckets {
            var bucket = bucket
            if bucket.isFull(now: now) { table.buckets[key] = nil }
        }
        let forgotten = count - table.buckets.count
        table.poorSweep = forgotten < count / Self.poorPart ? now : nil
        return forgotten > 0
    }
}
