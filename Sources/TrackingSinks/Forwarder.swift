// Moves batches from the journal to one sink: in order, at its own pace, and never giving up.
package import Logging
internal import ServiceLifecycle
internal import Synchronization
internal import TrackingCore
package import TrackingJournal

/// Delivers the journal's batches to a sink. What the sink has is noted by its cursor; what it
/// refuses for good goes to the dead letters first.
package struct Forwarder: Service {
    private let journal: Journal
    private let sink: any Sink
    private let deadLetters: DeadLetters
    private let clock: any Clock<Duration>
    private let metrics: SinkMetrics
    private let logger: Logger
    private let maxLinks: Int

    /// A forwarder from a journal to a sink.
    ///
    /// - Parameters:
    ///   - metrics: what is counted of the sink's deliveries.
    ///   - maxLinks: requests that the span of a batch is linked to at most.
    ///   - clock: waits between retries; tests give their own.
    package init(
        from journal: Journal, to sink: any Sink, deadLetters: DeadLetters, metrics: SinkMetrics,
        logger: Logger, maxLinks: Int = 128, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.journal = journal
        self.sink = sink
        self.deadLetters = deadLetters
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
        self.maxLinks = maxLinks
    }

    /// Delivers until the journal ends. At graceful shutdown what is left is still delivered for
    /// `flushTimeout`, unless the sink is unavailable: the rest stays in the journal.
    ///
    /// - Throws: what SQLite says where a batch cannot be read.
    package func run() async throws {
        let stop = Stop()
        try await withTaskCancellationOrGracefulShutdownHandler {
            // Cancelled where all is delivered first.
            async let _: Void = self.limitFlush(stop)
            try await withTaskExecutorPreference(self.journal.forwarderExecutor) {
                try await self.forward(stop)
            }
        } onCancelOrGracefulShutdown: {
            stop.begin()
            self.journal.finish()
        }
    }

    /// How long a stopping forwarder still delivers.
    private static let flushTimeout = Duration.seconds(5)

    private func limitFlush(_ stop: Stop) async {
        do {
            try await gracefulShutdown()
            try await Task.sleep(for: Self.flushTimeout)
        } catch {
            // Forwarding has ended, or else nobody waits for it any longer.
        }
        stop.endFlush()
    }

    private func forward(_ stop: Stop) async throws {
        let span = SinkSpan(sink: self.sink.name, maxLinks: self.maxLinks)
        var cursor = self.journal.cursor(of: self.sink.name)
        self.sink.resume(at: self.journal.place(of: self.sink.name))
        while let batch = try await self.journal.batch(after: cursor) {
            switch await self.deliver(batch, span, stop) {
            case .settled:
                cursor = batch.sequence
                self.journal.advance(sink: self.sink.name, to: cursor, place: self.sink.place)
            case .lost:
                cursor = 0
                self.journal.rewind(sink: self.sink.name)
            case .stopped: return
            }
            if stop.isFlushOver { return }
        }
    }

    /// What became of a batch.
    private enum Outcome {
        /// The sink has its hits, or the dead letters.
        case settled
        /// The sink has lost what came before it.
        case lost
        /// It was given up for a stop.
        case stopped
    }

    /// Delivers one batch, as often as it takes.
    private func deliver(
        _ batch: JournalBatch, _ span: SinkSpan?, _ stop: Stop
    ) async -> Outcome {
        guard !batch.isDamaged else { return await self.keep(damaged: batch, stop) }
        let hits = HitBatch(
            journal: self.journal.identity, sequence: batch.sequence, payload: batch.payload)
        var backoff = Backoff()
        while true {
            let start = ContinuousClock.now
            switch await self.deliver(hits, events: batch.eventCount, span) {
            case .delivered:
                self.metrics.delivered(hits, rejected: 0, in: start.duration(to: .now))
                return .settled
            case .rejected(let reasons):
                self.metrics.delivered(hits, rejected: reasons.count, in: start.duration(to: .now))
                return await self.keep(stop) {
                    try await self.deadLetters.keep(hits, reasons: reasons, sink: self.sink.name)
                    self.metrics.kept(reasons.count)
                }
            case .undeliverable(let reason):
                return await self.keep(unreadable: hits, reason, stop)
            case .lost(let reason):
                self.logger.critical(
                    "the sink has lost hits, and gets all that the journal keeps",
                    metadata: ["sink": "\(self.sink.name)", "reason": "\(reason)"])
                return .lost
            case .unavailable(let reason):
                self.metrics.retried()
                guard await self.wait(&backoff, reason, stop) else { return .stopped }
            }
        }
    }

    private func deliver(
        _ hits: HitBatch, events: Int, _ span: SinkSpan?
    ) async -> SinkAnswer {
        guard let span else { return await self.sink.deliver(hits) }
        return await span.record(hits, events: events) { await self.sink.deliver(hits) }
    }

    private func keep(damaged batch: JournalBatch, _ stop: Stop) async -> Outcome {
        let sequences = batch.loss?.sequences ?? batch.sequence...batch.sequence
        self.logger.critical(
            "a batch is damaged and cannot be delivered",
            metadata: [
                "first_sequence": "\(sequences.lowerBound)", "sequence": "\(batch.sequence)",
                "events": "\(batch.loss?.eventCount.map(String.init) ?? "unknown")",
            ])
        return await self.keep(stop) {
            try await self.deadLetters.keep(
                damaged: batch, of: self.journal.identity, sink: self.sink.name)
            self.metrics.kept(1)
        }
    }

    private func keep(unreadable hits: HitBatch, _ reason: String, _ stop: Stop) async -> Outcome {
        self.logger.critical(
            "a batch cannot be read, and its hits are kept as dead letters",
            metadata: [
                "sink": "\(self.sink.name)", "sequence": "\(hits.sequence)",
                "reason": "\(reason)",
            ])
        return await self.keep(stop) {
            self.metrics.kept(
                try await self.deadLetters.keep(
                    unreadable: hits, reason: reason, sink: self.sink.name))
        }
    }

    /// Writes dead letters, as often as it takes: nothing is passed over before it is kept.
    private func keep(
        _ stop: Stop, _ write: () async throws -> Void
    ) async -> Outcome {
        var backoff = Backoff()
        while true {
            do {
                try await write()
                return .settled
            } catch {
                guard await self.wait(&backoff, "dead letters: \(error)", stop) else {
                    return .stopped
                }
            }
        }
    }

    private func wait(
        _ backoff: inout Backoff, _ reason: String, _ stop: Stop
    ) async -> Bool {
        var generator = self.journal.generator
        let pause = backoff.next(using: &generator)
        self.logger.warning(
            "the sink is unavailable",
            metadata: [
                "sink": "\(self.sink.name)", "reason": "\(reason)", "retry_after": "\(pause)",
            ])
        if stop.hasBegun { return false }
        do {
            try await cancelWhenGracefulShutdown { try await self.clock.sleep(for: pause) }
        } catch {
            return false  // Cancelled: the process ends.
        }
        return !stop.hasBegun
    }
}

/// Where a forwarder's stop has come to.
private final class Stop: Sendable {
    private let begun = Atomic(false)
    private let flushOver = Atomic(false)

    var hasBegun: Bool { self.begun.load(ordering: .acquiring) }
    var isFlushOver: Bool { self.flushOver.load(ordering: .acquiring) }

    func begin() { self.begun.store(true, ordering: .releasing) }
    func endFlush() { self.flushOver.store(true, ordering: .releasing) }
}
