// The sink for Adobe Campaign: each hit as the vendor's own clients report it.
package import SinkKit
internal import Synchronization
package import TrackingRules

/// Sends each hit to its tenant's Campaign server as a GET, many at once, and has delivered a batch
/// when each of them has an answer that stands: 200, or a refusal. A server cannot tell a hit that
/// it knows: what is sent twice counts twice, so within a process nothing is sent again after its
/// 200.
package final class CampaignSink: ProbeableSink {
    /// "campaign".
    package let name = "campaign"
    let configuration: CampaignConfiguration
    let client: PostbackClient
    private let now: @Sendable () -> ContinuousClock.Instant
    private let memory = Mutex(Memory())

    private struct Memory {
        /// Batches that were delivered in part: the forwarder's, and a replay's.
        var batches: [PostbackBatch] = []
        /// Servers that asked for time, and until when.
        var holds: [PostbackServer: ContinuousClock.Instant] = [:]
    }

    /// A sink that connects with its first batch.
    ///
    /// - Parameter now: the time by which a Retry-After is kept; tests substitute it.
    package init(
        _ configuration: CampaignConfiguration,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.configuration = configuration
        self.client = PostbackClient(configuration)
        self.now = now
    }

    /// As many hits as may be in flight: a crash sends the whole batch again.
    package var maxBatch: BatchLimit {
        BatchLimit(hits: self.configuration.maxInFlight, bytes: 384 << 10)
    }

    /// Sends what has no answer yet.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        var batch: PostbackBatch
        do {
            batch = try PostbackBatch(hits, self.configuration)
        } catch {
            return SinkAnswer(failure: error)
        }
        if let kept = self.takeKept(batch) { batch.goOn(from: kept) }
        let failure = await self.send(&batch)
        let waiting = batch.waitingCount
        if waiting == 0 { return SinkAnswer(rejected: batch.refused) }
        self.keep(batch)
        return .unavailable(
            reason: "\(failure); \(waiting) of \(batch.requests.count) requests are left")
    }

    /// One attempt; returns its first failure.
    private func send(_ batch: inout PostbackBatch) async -> String {
        let held = self.heldServers.intersection(batch.waitingServers)
        var failure = held.map(\.name).min().map { "\($0) asked for time" } ?? ""
        var schedule = PostbackSchedule(
            batch, held: held, maxFailures: self.configuration.maxInFlight)
        await withTaskGroup(of: (Int, PostbackAnswer).self) { group in
            var inFlight = 0
            while true {
                while inFlight < self.configuration.maxInFlight, let index = schedule.next() {
                    let request = batch.requests[index]
                    inFlight += 1
                    group.addTask { (index, await self.client.send(request)) }
                }
                guard let (index, answer) = await group.next() else { return }
                inFlight -= 1
                switch answer {
                case .counted:
                    batch.settle(index)
                    schedule.settle(index)
                case .refused(let reason):
                    batch.settle(index, refused: reason)
                    schedule.settle(index)
                case .unavailable(let reason, let wait):
                    let server = batch.requests[index].server
                    schedule.fail(index)
                    if let wait, self.hold(server, for: wait) { schedule.hold(server) }
                    if failure.isEmpty { failure = "\(server.name): \(reason)" }
                }
            }
        }
        return failure
    }

    private func takeKept(_ batch: PostbackBatch) -> PostbackBatch? {
        self.memory.withLock { memory in
            memory.batches.firstIndex { $0.isSame(as: batch) }
                .map { memory.batches.remove(at: $0) }
        }
    }

    private func keep(_ batch: PostbackBatch) {
        self.memory.withLock { memory in
            // One of each: several replays may be given up while the forwarder waits.
            memory.batches.removeAll { $0.isReplay == batch.isReplay }
            memory.batches.append(batch)
        }
    }

    /// Servers that asked for time which is not over.
    private var heldServers: Set<PostbackServer> {
        let now = self.now()
        return self.memory.withLock { memory in
            memory.holds = memory.holds.filter { $0.value > now }
            return Set(memory.holds.keys)
        }
    }

    /// Whether a server is left alone for a time that it asked for.
    private func hold(_ server: PostbackServer, for wait: Duration) -> Bool {
        let wait = min(wait, self.configuration.maxRetryAfter)
        guard wait > .zero else { return false }
        let end = self.now() + wait
        self.memory.withLock { memory in
            memory.holds[server] = max(end, memory.holds[server] ?? end)
        }
        return true
    }
}
