package import Logging
internal import Pacing
internal import ServiceLifecycle
internal import Synchronization
package import TrackingRules

/// Keeps refused events that other rules might accept. Recording never waits for it: events wait in
/// a bounded queue, in which each tenant has its share, and events beyond it are counted and
/// dropped.
package final class Quarantine: Service {
    /// The file.
    package let file: QuarantineFile
    private let logger: Logger
    private let wallTime: @Sendable () -> Int64
    private let waiting: Mutex<Waiting>
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let counts = Mutex(Counts())

    private struct Waiting {
        var events: [QuarantinedEvent] = []
        /// Their bytes.
        var shares: TenantShares
    }

    /// Counts since the start.
    package struct Counts: Sendable, Equatable {
        /// Written to the file.
        package var kept = 0
        /// Dropped, because too many of its tenant were waiting.
        package var dropped = 0
        /// Evicted from the file to make room.
        package var evicted = 0
        /// The bytes that the file uses; 0 until the first write.
        package var bytes = 0
    }

    /// The time after which a failed write is repeated, and the interval at which old events are
    /// deleted even if no new ones arrive.
    private static let (retryInterval, upkeepInterval) = (Duration.seconds(1), Duration.seconds(60))

    /// Creates a quarantine; `run` writes the queued events.
    ///
    /// - Parameter wallTime: the time of day, in microseconds since 1970; a simulation substitutes
    ///   its own.
    package init(
        _ file: QuarantineFile, _ configuration: QuarantineConfiguration, logger: Logger,
        wallTime: @escaping @Sendable () -> Int64 = WallClock.microseconds
    ) {
        self.file = file
        self.wallTime = wallTime
        self.waiting = Mutex(Waiting(shares: TenantShares(bound: configuration.queueBytes)))
        self.logger = logger
        (self.wakes, self.wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The counts so far.
    package var currentCounts: Counts { self.counts.withLock { $0 } }

    /// Queues the refused events of a tenant's settled requests, as far as there is room. Requests
    /// that have to be sent again are skipped: their events would be kept with each attempt.
    package func keep(_ requests: [AdmittedRequest], of tenant: String) {
        var dropped = 0
        let owner = Array(tenant.utf8)
        for request in requests where !request.isToRetry && !request.keptEvents.isEmpty {
            self.waiting.withLock { waiting in
                for refusal in request.refusals where refusal.judgement.verdict.isRecoverable {
                    guard let kept = refusal.kept else { continue }
                    let bytes = QuarantinedEvent.bytes(
                        kept.bytes.count, refusal.judgement.violations)
                    guard waiting.shares.take(bytes, for: owner) else {
                        dropped += 1
                        continue
                    }
                    waiting.events.append(
                        QuarantinedEvent(
                            tenant: tenant, receiveTime: request.receiveTime,
                            verdict: refusal.judgement.verdict,
                            violations: refusal.judgement.violations,
                            event: Array(request.keptEvents[kept.bytes]),
                            appID: kept.names.appID, deliveryID: kept.names.deliveryID,
                            subjectID: kept.subjectID))
                }
            }
            self.wake.yield()
        }
        if dropped > 0 { self.counts.withLock { $0.dropped += dropped } }
    }

    /// Writes queued events until shutdown, and then the rest of them.
    package func run() async throws {
        await withGracefulShutdownHandler {
            async let _: Void = self.upkeep()
            var isFailing = false
            for await _ in self.wakes {
                isFailing = await self.write(wasFailing: isFailing)
                // The sleep is cut short at shutdown.
                if isFailing { try? await Task.sleep(for: Self.retryInterval) }
            }
            _ = await self.write(wasFailing: isFailing)
        } onGracefulShutdown: {
            self.wake.finish()
        }
    }

    private func upkeep() async {
        self.wake.yield()
        // The sleep throws only if cancelled.
        while (try? await Task.sleep(for: Self.upkeepInterval)) != nil { self.wake.yield() }
    }

    /// Writes the queued events; true if that failed and they are still queued.
    private func write(wasFailing: Bool) async -> Bool {
        let events = self.waiting.withLock { $0.events }
        do {
            let (kept, evicted, bytes) = try await self.file.keep(
                events, now: self.wallTime())
            self.counts.withLock { counts in
                counts.kept += kept
                counts.evicted += evicted
                counts.bytes = bytes
            }
        } catch {
            if !wasFailing {
                self.logger.warning(
                    "refused events cannot be kept now", metadata: ["reason": "\(error)"])
            }
            self.wake.yield()
            return true
        }
        let written = events.reduce(into: [[UInt8]: Int]()) { written, event in
            written[Array(event.tenant.utf8), default: 0] += event.bytes
        }
        self.waiting.withLock { waiting in
            waiting.events.removeFirst(events.count)
            for (tenant, bytes) in written { waiting.shares.giveBack(bytes, of: tenant) }
        }
        return false
    }
}

extension Quarantine: CustomStringConvertible {
    /// A short name, since service groups log their services' descriptions.
    package var description: String { "Quarantine" }
}
