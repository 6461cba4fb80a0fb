package import Logging
internal import Pacing
internal import ServiceLifecycle
package import SinkKit
package import TrackingJournal
package import TrackingRules

/// Delivers the journal's groups to one sink, in order, and retries without end. Groups are joined
/// up to what the sink asks for: many if it is behind, and without a wait as soon as there is one.
/// The cursor moves when the sink has a batch; permanently rejected hits first go to the dead
/// letters.
///
/// Memory: one batch, which is at most `maxBatch` or a single group, whichever is larger, and as
/// much again while groups are joined.
package struct Forwarder: Service {
    let journal: Journal
    private let sink: any Sink
    private let database: String?
    let state: SinkState
    let deadLetters: DeadLetters
    private let clock: any Clock<Duration>
    let metrics: SinkMetrics
    let logger: Logger
    let deadLetterLog = DeadLetterLog()
    private let maxLinks: Int
    private let maxBatch: BatchLimit
    private let flushTimeout: Duration

    /// Creates a forwarder.
    ///
    /// - Parameters:
    ///   - database: the backend as OpenTelemetry names databases (`db.system.name`); nil for any
    ///     other backend, which is a destination of messages.
    ///   - state: the sink's name, its filter, and whether it is paused; told why a delivery fails.
    ///     Without one, the name is that of the sink's kind.
    ///   - metrics: the sink's metrics.
    ///   - maxLinks: the maximum number of requests that a delivery's span links to.
    ///   - maxBatch: the maximum size of a batch; a sink may ask for less.
    ///   - flushTimeout: how long it goes on after graceful shutdown.
    ///   - clock: used to wait between retries; tests substitute it.
    package init(
        from journal: Journal, to sink: any Sink, database: String? = nil,
        state: SinkState? = nil, deadLetters: DeadLetters, metrics: SinkMetrics,
        logger: Logger, maxLinks: Int = 128, maxBatch: BatchLimit = .standard,
        flushTimeout: Duration = .seconds(5),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.journal = journal
        self.sink = sink
        self.database = database
        self.state = state ?? SinkState(sink.name)
        self.deadLetters = deadLetters
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
        self.maxLinks = maxLinks
        self.maxBatch = maxBatch
        self.flushTimeout = flushTimeout
    }

    /// The sink's name.
    var name: String { self.state.name }

    /// Delivers until the journal ends. On graceful shutdown it flushes for up to `flushTimeout`,
    /// unless the sink is unavailable; then it cancels the delivery that is under way, and the rest
    /// stays in the journal. Cancelled, it ends with the batch that is under way.
    ///
    /// - Throws: an error if a batch cannot be read.
    package func run() async throws {
        let shutdown = ForwarderShutdown()
        try await withGracefulShutdownHandler {
            try await withTaskCancellationHandler {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask(executorPreference: self.journal.forwarderExecutor) {
                        defer { self.logRestOfLetters() }
                        try await self.forward(shutdown)
                    }
                    group.addTask { await self.limitFlush(shutdown) }
                    // Whichever ends first: all is delivered, or the flush is over.
                    defer { group.cancelAll() }
                    try await group.next()
                }
            } onCancel: {
                self.end(shutdown)
            }
        } onGracefulShutdown: {
            self.end(shutdown)
            self.journal.finish()
        }
    }

    private func end(_ shutdown: ForwarderShutdown) {
        shutdown.begin()
        self.state.end()
    }

    private func limitFlush(_ shutdown: ForwarderShutdown) async {
        do {
            try await gracefulShutdown()
            try await Task.sleep(for: self.flushTimeout)
        } catch {
            // Delivery has ended, or the task was cancelled.
        }
        shutdown.endFlush()
    }

    private func forward(_ shutdown: ForwarderShutdown) async throws {
        let span = SinkSpan(
            sink: self.name, database: self.database, maxLinks: self.maxLinks)
        var cursor = self.journal.cursor(of: self.name)
        // Up to here groups are not joined, because one of them cannot be read.
        var aloneThrough: Int64 = 0
        var losses = Losses()
        let resumable = self.sink as? any ResumableSink
        resumable?.resume(at: self.journal.resumeToken(of: self.name))
        let positioned = self.sink as? any PositionedSink
        positioned?.use(self.journalGroups)
        while await self.state.mayDeliver(),
            let next = try await self.next(after: cursor, isAlone: cursor < aloneThrough),
            // The wait for a group may have been long.
            await self.state.mayDeliver()
        {
            switch await self.deliver(next, span, shutdown) {
            case .settled:
                cursor = next.sequence
                self.journal.advance(
                    sink: self.name, to: cursor, resumeToken: resumable?.resumeToken ?? "")
                losses.noteSettled(through: cursor)
                self.logHeldLetters()
            case .unreadable:
                aloneThrough = next.sequence
            case .lost(let reason):
                (cursor, aloneThrough) = (0, 0)
                self.journal.rewind(sink: self.name)
                losses.note(through: next.sequence)
                guard await self.wait(&losses.backoff, reason, shutdown) else { return }
            case .stopped: return
            }
            if shutdown.isFlushOver { return }
        }
    }

    /// The waits after losses. They grow until the sink has again what it had at the newest loss: a
    /// sink that loses what it is fed, over and over, is fed more and more rarely.
    private struct Losses {
        var backoff = Backoff()
        /// The newest group that was delivered when a loss was told.
        private var through: Int64 = 0

        mutating func note(through sequence: Int64) { self.through = max(self.through, sequence) }

        mutating func noteSettled(through sequence: Int64) {
            if sequence >= self.through { self.backoff.reset() }
        }
    }

    /// The groups as the sink gets them.
    private var journalGroups: JournalGroups {
        let (journal, state) = (self.journal, self.state)
        return JournalGroups(
            identity: journal.identity,
            newest: { journal.lastSequence },
            group: { sequence in
                // A group that cannot be read proves nothing, as one that is not there.
                let found = try? await journal.kept(after: sequence - 1, through: sequence)
                guard let found, !found.isDamaged else { return nil }
                let hits = HitBatch(journal: journal.identity, joining: [found])
                guard let filter = state.filter else { return hits }
                return try? hits.filtered(by: filter)
            })
    }

    /// What is delivered next.
    private enum Next {
        case hits(HitBatch)
        /// Stands for hits that are lost.
        case missing(JournalBatch)

        /// The sequence of the last group in it.
        var sequence: Int64 {
            switch self {
            case .hits(let hits): hits.sequence
            case .missing(let batch): batch.sequence
            }
        }
    }

    /// Waits for the next group, and joins those after it that are there. Nil at the end.
    private func next(after cursor: Int64, isAlone: Bool) async throws -> Next? {
        let limit = isAlone ? .oneGroup : self.sink.maxBatch.lowered(to: self.maxBatch)
        let groups = try await self.journal.batches(
            for: self.name, after: cursor, upTo: limit)
        guard let groups, let first = groups.first else { return nil }
        if first.isDamaged { return .missing(first) }
        return .hits(HitBatch(journal: self.journal.identity, joining: groups))
    }

    /// The outcome of a batch's delivery.
    enum Outcome {
        /// All hits are in the sink or in the dead letters.
        case settled
        /// One of several groups cannot be read, and none is in the sink.
        case unreadable
        /// The sink lost earlier hits.
        case lost(reason: String)
        /// The server stops; the batch stays in the journal.
        case stopped
    }

    /// Delivers one batch, with retries.
    private func deliver(
        _ next: Next, _ span: SinkSpan?, _ shutdown: ForwarderShutdown
    ) async -> Outcome {
        switch next {
        case .hits(let hits): await self.deliver(hits, span, shutdown)
        case .missing(let batch): await self.keep(missing: batch, shutdown)
        }
    }

    private func deliver(
        _ hits: HitBatch, _ span: SinkSpan?, _ shutdown: ForwarderShutdown
    ) async -> Outcome {
        let filter = self.state.filter
        let wanted: HitBatch
        do {
            wanted = try filter.map { try hits.filtered(by: $0) } ?? hits
        } catch {
            if hits.groups.count > 1 { return .unreadable }
            return await self.keep(unreadable: hits, "\(error)", shutdown)
        }
        if wanted.hitCount == 0 { return .settled }
        var backoff = Backoff()
        while true {
            let start = ContinuousClock.now
            switch await self.deliver(wanted, span) {
            case .delivered:
                self.metrics.delivered(wanted, rejected: 0, in: start.duration(to: .now))
                return .settled
            case .rejected(let reasons):
                self.metrics.delivered(
                    wanted, rejected: reasons.count, in: start.duration(to: .now))
                return await self.keep(rejected: reasons, of: hits, filter, shutdown)
            case .unreadable where hits.groups.count > 1:
                return .unreadable
            case .unreadable(let reason) where filter != nil:
                let reasons = (0..<wanted.hitCount).map { ($0, reason) }
                return await self.keep(
                    rejected: Dictionary(uniqueKeysWithValues: reasons), of: hits, filter, shutdown)
            case .unreadable(let reason):
                return await self.keep(unreadable: hits, reason, shutdown)
            case .dataLoss(let reason):
                self.logger.critical(
                    "the sink has lost hits, and gets all that the journal keeps",
                    metadata: ["sink": "\(self.name)", "reason": "\(reason)"])
                return .lost(reason: reason)
            case .unavailable(let reason):
                self.metrics.retried()
                guard await self.wait(&backoff, reason, shutdown) else { return .stopped }
            case .progressed(let reason):
                backoff.reset()
                self.metrics.retried()
                guard await self.wait(&backoff, reason, shutdown) else { return .stopped }
            case .suspended(let reason):
                guard await self.pause(reason) else { return .stopped }
                backoff = Backoff()
            }
        }
    }

    /// Pauses the sink until an operator resumes it; false if the server stops.
    private func pause(_ reason: String) async -> Bool {
        self.state.note(.init(reason: reason, time: self.journal.wallTime))
        self.logger.warning(
            "the sink is paused, until an operator resumes it",
            metadata: ["sink": "\(self.name)", "reason": "\(reason)"])
        self.state.pause()
        return await self.state.mayDeliver()
    }

    private func deliver(_ hits: HitBatch, _ span: SinkSpan?) async -> SinkAnswer {
        guard let span else { return await self.sink.deliver(hits) }
        return await span.record(hits) { await self.sink.deliver(hits) }
    }

    /// Waits before the next try; false if the server stops.
    func wait(
        _ backoff: inout Backoff, _ reason: String, _ shutdown: ForwarderShutdown
    ) async -> Bool {
        self.state.note(.init(reason: reason, time: self.journal.wallTime))
        var generator = self.journal.generator
        let pause = backoff.next(using: &generator)
        var metadata: Logger.Metadata = [
            "sink": "\(self.name)", "reason": "\(reason)", "retry_after": "\(pause)",
        ]
        let missed = self.journal.missedHits(of: self.name)
        if missed > 0 { metadata["missed_hits"] = "\(missed)" }
        self.logger.warning("the sink is unavailable", metadata: metadata)
        if shutdown.hasBegun { return false }
        do {
            try await cancelWhenGracefulShutdown { try await self.clock.sleep(for: pause) }
        } catch {
            return false  // Cancelled.
        }
        return !shutdown.hasBegun
    }
}
