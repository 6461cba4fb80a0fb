// The memory that requests take between their arrival and their answer, over all streams.
internal import HTTP2Edge
internal import Synchronization

/// Counts the bytes of requests that are under way. Over the soft limit no new calls are taken;
/// over the hard one nothing more is read until there is room. One atomic addition per request each
/// way.
///
/// What is read stays within the hard limit but for one request of each stream, after 64 KiB of
/// others (`RequestIntake.maxHeldBytes`): those that have found room at the same moment.
package final class MemoryBudget: Sendable {
    /// Bytes over which no new calls are taken.
    package let softBytes: Int
    /// Bytes over which reading stops.
    package let hardBytes: Int
    /// What has come and is not under way yet, and answers that are not read.
    let waiting: WaitingBytes

    private let bytes = Atomic(0)
    private let waiterCount = Atomic(0)
    private let waiters = Mutex(Waiters())

    /// One per stream at most: a stream has one reader.
    private struct Waiters {
        var continuations: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextID: UInt64 = 0
    }

    /// A budget of which nothing is used.
    ///
    /// - Parameters:
    ///   - hardBytes: bytes that may be under way.
    ///   - softPercent: the share of them from which on new calls are refused.
    ///   - waitingBytes: bytes that may wait to be taken, besides.
    package init(
        hardBytes: Int, softPercent: Int, waitingBytes: Int = EdgeConfiguration().bytesWaiting
    ) {
        self.hardBytes = hardBytes
        self.waiting = WaitingBytes(maxBytes: waitingBytes)
        self.softBytes = hardBytes / 100 * softPercent + hardBytes % 100 * softPercent / 100
    }

    /// Bytes under way now.
    var bytesInFlight: Int { self.bytes.load(ordering: .relaxed) }
    /// Whether new calls are to be refused.
    var isNearlyFull: Bool { self.bytes.load(ordering: .relaxed) > self.softBytes }
    /// Whether reading has to stop.
    var isFull: Bool { self.bytes.load(ordering: .relaxed) > self.hardBytes }

    /// Counts a request that has been read.
    func add(_ bytes: Int) { self.bytes.wrappingAdd(bytes, ordering: .relaxed) }

    /// Counts it off once it is settled.
    func remove(_ bytes: Int) {
        // Sequentially consistent, as are the count and the second look of those who wait: either
        // they see the bytes gone, or this sees them wait.
        let left = self.bytes.wrappingSubtract(bytes, ordering: .sequentiallyConsistent).newValue
        guard left <= self.hardBytes,
            self.waiterCount.load(ordering: .sequentiallyConsistent) > 0
        else { return }
        let continuations = self.waiters.withLock { waiters in
            defer { waiters.continuations = [:] }
            return waiters.continuations
        }
        for continuation in continuations.values { continuation.resume() }
    }

    /// Waits until reading may go on, or the task is cancelled.
    func waitForRoom() async {
        while self.isFull, !Task.isCancelled { await self.waitForChange() }
    }

    private func waitForChange() async {
        self.waiterCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { self.waiterCount.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        let id = self.waiters.withLock { waiters in
            waiters.nextID &+= 1
            return waiters.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasToWait = self.waiters.withLock { waiters in
                    guard !Task.isCancelled,
                        self.bytes.load(ordering: .sequentiallyConsistent) > self.hardBytes
                    else { return false }
                    waiters.continuations[id] = continuation
                    return true
                }
                if !hasToWait { continuation.resume() }
            }
        } onCancel: {
            self.waiters.withLock { $0.continuations.removeValue(forKey: id) }?.resume()
        }
    }
}
