internal import Pacing
internal import ServerConfiguration
internal import Synchronization

/// A tenant's token buckets for events and bytes, shared by all its calls. Takes one lock per
/// request, for a few divisions.
final class TenantQuota: Sendable {
    private let buckets: Mutex<Buckets>
    private let now: @Sendable () -> UInt64

    private struct Buckets {
        var events: TokenBucket
        var bytes: TokenBucket
        var maxStreamWait: Duration

        /// The rate with the longer wait for these amounts; nil if there is no wait.
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

    /// Creates an unused quota.
    ///
    /// - Parameters:
    ///   - maxStreamWait: the longest delay of a stream.
    ///   - now: a monotonic clock in nanoseconds.
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

    /// Changes the rates, also for open calls.
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

    /// Charges a request, whole or not at all.
    ///
    /// - Returns: nil if it was charged, else the excess.
    func take(events: Int, bytes: Int) -> QuotaExcess? {
        let now = self.now()
        return self.buckets.withLock { buckets in
            let excess = buckets.excess(events: events, bytes: bytes, now: now)
            if excess == nil { buckets.charge(events: events, bytes: bytes, now: now) }
            return excess
        }
    }

    /// Charges a request that was already read, into debt if necessary.
    ///
    /// - Returns: when the next one may be read. Calls that share the quota wait in turn.
    func charge(events: Int, bytes: Int) -> QuotaPace {
        let now = self.now()
        return self.buckets.withLock { buckets in
            buckets.charge(events: events, bytes: bytes, now: now)
            guard let excess = buckets.excess(events: 0, bytes: 0, now: now) else { return .goOn }
            return excess.wait > buckets.maxStreamWait ? .end(excess) : .wait(excess.wait)
        }
    }

    /// The excess if the debt is so large that streams are ended; charges nothing.
    func excessBeyondWait() -> QuotaExcess? {
        let now = self.now()
        return self.buckets.withLock { buckets in
            let excess = buckets.excess(events: 0, bytes: 0, now: now)
            return excess.flatMap { $0.wait > buckets.maxStreamWait ? $0 : nil }
        }
    }

    /// Whether it is unused, so that it can be dropped and created again.
    var isUnused: Bool {
        let now = self.now()
        return self.buckets.withLock { $0.events.isFull(now: now) && $0.bytes.isFull(now: now) }
    }
}

extension Duration {
    /// Nanoseconds as a duration, limited to Int64 (292 years).
    fileprivate init(nanoseconds: UInt64) { self = .nanoseconds(Int64(clamping: nanoseconds)) }
}
