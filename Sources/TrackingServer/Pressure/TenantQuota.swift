// What one tenant has used of its quota.
internal import HTTP2Edge
internal import ServerConfiguration
internal import Synchronization

/// A tenant's two buckets, shared by all its calls. One lock per request, held for a few divisions.
final class TenantQuota: Sendable {
    private let buckets: Mutex<Buckets>
    private let now: @Sendable () -> UInt64

    private struct Buckets {
        var events: TokenBucket
        var bytes: TokenBucket
        var maxStreamWait: Duration

        /// How long to wait for these amounts, by the slower of the two; nil for not at all.
        mutating func excess(events: Int, bytes: Int, now: UInt64) -> QuotaExcess? {
            let eventsWait = self.events.wait(for: events, now: now)
            let bytesWait = self.bytes.wait(for: bytes, now: now)
            guard eventsWait > 0 || bytesWait > 0 else { return nil }
            return eventsWait >= bytesWait
                ? QuotaExcess(
                    rate: .events, perSecond: self.events.rate, wait: .init(nanoseconds: eventsWait)
                )
                : QuotaExcess(
                    rate: .bytes, perSecond: self.bytes.rate, wait: .init(nanoseconds: bytesWait))
        }

        mutating func charge(events: Int, bytes: Int, now: UInt64) {
            self.events.charge(events, now: now)
            self.bytes.charge(bytes, now: now)
        }
    }

    /// A quota of which nothing is used.
    ///
    /// - Parameters:
    ///   - maxStreamWait: the longest wait by which a stream is slowed.
    ///   - now: nanoseconds of a monotonic clock.
    init(_ quota: Quota, maxStreamWait: Duration, now: @escaping @Sendable () -> UInt64) {
        let start = now()
        self.now = now
        self.buckets = Mutex(
            Buckets(
                events: TokenBucket(
                    rate: quota.eventsPerSecond, burstSeconds: quota.burstSeconds, now: start),
                bytes: TokenBucket(
                    rate: quota.bytesPerSecond, burstSeconds: quota.burstSeconds, now: start),
                maxStreamWait: maxStreamWait))
    }

    /// Holds the tenant to other rates from now on, in calls that are open too.
    func change(to quota: Quota, maxStreamWait: Duration) {
        let now = self.now()
        self.buckets.withLock { buckets in
            buckets.events.change(
                rate: quota.eventsPerSecond, burstSeconds: quota.burstSeconds, now: now)
            buckets.bytes.change(
                rate: quota.bytesPerSecond, burstSeconds: quota.burstSeconds, now: now)
            buckets.maxStreamWait = maxStreamWait
        }
    }

    /// Takes a request whole or not at all.
    ///
    /// - Returns: nil where it was taken, else why it was not.
    func take(events: Int, bytes: Int) -> QuotaExcess? {
        let now = self.now()
        return self.buckets.withLock { buckets in
            let excess = buckets.excess(events: events, bytes: bytes, now: now)
            if excess == nil { buckets.charge(events: events, bytes: bytes, now: now) }
            return excess
        }
    }

    /// Takes a request that has been read already, on credit where the quota is used up.
    ///
    /// - Returns: when the next one may be read. Those who share the quota wait one after another.
    func charge(events: Int, bytes: Int) -> QuotaPace {
        let now = self.now()
        return self.buckets.withLock { buckets in
            buckets.charge(events: events, bytes: bytes, now: now)
            guard let excess = buckets.excess(events: 0, bytes: 0, now: now) else { return .goOn }
            return excess.wait > buckets.maxStreamWait ? .end(excess) : .wait(excess.wait)
        }
    }

    /// The excess where so much is on credit that streams are ended for it; takes nothing.
    func excessBeyondWait() -> QuotaExcess? {
        let now = self.now()
        return self.buckets.withLock { buckets in
            let excess = buckets.excess(events: 0, bytes: 0, now: now)
            return excess.flatMap { $0.wait > buckets.maxStreamWait ? $0 : nil }
        }
    }

    /// Whether nothing of it is used: it can be forgotten, and made anew.
    var isUnused: Bool {
        let now = self.now()
        return self.buckets.withLock { $0.events.isFull(now: now) && $0.bytes.isFull(now: now) }
    }
}

extension Duration {
    /// Nanoseconds as a duration, cut off where it could not be counted: after 292 years.
    fileprivate init(nanoseconds: UInt64) { self = .nanoseconds(Int64(clamping: nanoseconds)) }
}
