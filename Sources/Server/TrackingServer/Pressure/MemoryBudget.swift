internal import HTTP2Edge
internal import Pacing
internal import Synchronization

/// Counts the bytes of requests in flight, from arrival to answer, over all streams. Tenants and
/// connections have shares of them (`SharedBound`): at the soft limit of a share its new calls are
/// refused; above the hard limit its streams stop reading until there is room. Costs three atomic
/// additions per run of requests in each direction.
///
/// A connection that has less than its share has room for its next request, however large that is:
/// so it may exceed its share by one request, or by a run of a stream's
/// (`RequestIntake.maxHeldBytes` and the last of them), and by as many more as the pool has threads
/// that find room at once.
package final class MemoryBudget: Sendable {
    /// The bytes that a lone connection may have in flight; above them, its streams are not read.
    package let hardBytes: Int
    /// The percentage of a share's bytes above which its new calls are refused.
    fileprivate let softPercent: Int
    /// Bytes not yet in flight, and answers that clients do not read.
    let buffered: BufferedBytes

    private let bound: SharedBound
    private let waiterCount = Atomic(0)
    private let lastID = Atomic<UInt64>(0)
    /// At most one per stream, since a stream has one reader.
    private let waiters = Mutex(WaitingShares<CheckedContinuation<Void, Never>>())

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - hardBytes: the maximum bytes in flight.
    ///   - softPercent: the share of `hardBytes` at which new calls are refused.
    ///   - bufferedBytes: the maximum bytes that wait to be read, counted separately.
    package init(
        hardBytes: Int, softPercent: Int, bufferedBytes: Int = EdgeConfiguration().bytesWaiting
    ) {
        self.hardBytes = hardBytes
        self.softPercent = softPercent
        self.buffered = BufferedBytes(maxBytes: bufferedBytes)
        self.bound = SharedBound(hardBytes)
    }

    /// The bytes in flight.
    var bytesInFlight: Int { self.bound.used }

    /// The share of a tenant, by its name, on a connection; on one of its own if that is not known.
    func share(
        of tenant: String, on connection: ConnectionShares = ConnectionShares()
    ) -> MemoryShare {
        MemoryShare(
            budget: self,
            share: self.bound.share(of: tenant.utf8, on: connection.bytesInFlight))
    }

    /// Resumes waiters of this share and of others that have room now.
    fileprivate func wakeWaiters(after share: SharedBound.Share) {
        // Either a waiter sees the freed bytes, or this sees the waiter.
        guard self.waiterCount.load(ordering: .sequentiallyConsistent) > 0 else { return }
        let ready = self.waiters.withLock { $0.takeReady(after: share) }
        for continuation in ready { continuation.resume() }
    }

    fileprivate func waitForChange(of share: SharedBound.Share) async {
        self.waiterCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { self.waiterCount.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        let id = self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let hasToWait = self.waiters.withLock { waiters in
                    guard !Task.isCancelled, !share.hasRoom() else { return false }
                    waiters.add(continuation, id: id, of: share)
                    return true
                }
                if !hasToWait { continuation.resume() }
            }
        } onCancel: {
            self.waiters.withLock { $0.remove(id, of: share) }?.resume()
        }
    }
}

/// What a tenant has in flight on a connection.
struct MemoryShare: Sendable {
    fileprivate let budget: MemoryBudget
    fileprivate let share: SharedBound.Share

    /// Whether new calls must be refused.
    var isNearlyFull: Bool { !self.share.hasRoom(percent: self.budget.softPercent) }
    /// Whether reading must stop.
    var isFull: Bool { !self.share.hasRoom() }

    /// Counts a request that was read.
    func add(_ bytes: Int) { self.share.add(bytes) }

    /// Uncounts a request that was answered.
    func remove(_ bytes: Int) {
        self.share.remove(bytes)
        self.budget.wakeWaiters(after: self.share)
    }

    /// Suspends until reading may continue or the task is cancelled.
    func waitForRoom() async {
        while self.isFull, !Task.isCancelled { await self.budget.waitForChange(of: self.share) }
    }
}
