internal import HTTP2Edge
internal import Synchronization

/// Counts the bytes of requests in flight, from arrival to answer, over all streams. Above the soft
/// limit new calls are refused; above the hard limit streams stop reading until there is room.
/// Costs an atomic addition per request in each direction.
///
/// The hard limit may be exceeded by one request per stream, when several find room at the same
/// moment, plus what each stream may hold uncounted (`RequestIntake.maxHeldBytes`).
package final class MemoryBudget: Sendable {
    /// Above this many bytes, new calls are refused.
    package let softBytes: Int
    /// Above this many bytes, reading stops.
    package let hardBytes: Int
    /// Bytes not yet in flight, and answers that clients do not read.
    let buffered: BufferedBytes

    private let bytes = Atomic(0)
    private let waiterCount = Atomic(0)
    private let waiters = Mutex(Waiters())

    /// At most one per stream, since a stream has one reader.
    private struct Waiters {
        var continuations: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextID: UInt64 = 0
    }

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
        self.buffered = BufferedBytes(maxBytes: bufferedBytes)
        self.softBytes = hardBytes / 100 * softPercent + hardBytes % 100 * softPercent / 100
    }

    /// The bytes in flight.
    var bytesInFlight: Int { self.bytes.load(ordering: .relaxed) }
    /// Whether new calls must be refused.
    var isNearlyFull: Bool { self.bytes.load(ordering: .relaxed) > self.softBytes }
    /// Whether reading must stop.
    var isFull: Bool { self.bytes.load(ordering: .relaxed) > self.hardBytes }

    /// Counts a request that was read.
    func add(_ bytes: Int) { self.bytes.wrappingAdd(bytes, ordering: .relaxed) }

    /// Uncounts a request that was answered.
    func remove(_ bytes: Int) {
        // Sequentially consistent, like the waiters' count and second check: either a waiter sees
        // the freed bytes, or this sees the waiter.
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

    /// Suspends until reading may continue or the task is cancelled.
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
