// The sinks of a running server: what delivers to them, and what a reload and its operators change.
internal import AdminServer
internal import ConfigurationKeys
internal import Delivery
internal import Logging
internal import ServerConfiguration
internal import ServiceLifecycle
internal import SinkKit
internal import Synchronization
internal import Telemetry
internal import TrackingJournal
internal import TrackingRules

/// Runs a forwarder for each sink. A reload adds and removes sinks, and changes whether one is
/// required or paused and which hits it gets; the others never notice.
final class RunningSinks: Service {
    let journal: Journal
    let deadLetters: DeadLetters
    let isReplaying = Atomic(false)
    private let metrics: ServerMetrics
    private let forgotten: ForgottenSubjects
    private let maxLinks: Int
    private let maxBatch: BatchLimit
    private let flushTimeout: Duration
    private let logger: Logger
    private let state: Mutex<State>
    private let changes: AsyncStream<Change>
    private let changing: AsyncStream<Change>.Continuation

    private struct State {
        var sinks: [RunningSink]
        /// Sinks that are removed, and whose last batch may be under way.
        var ending: [RunningSink] = []
        /// The first sinks, until delivery to them begins. A reload before that comes after it: its
        /// change waits, and tells of each sink that it adds or removes.
        var first: [RunningSink]
    }

    /// What a reload asks of the service.
    private struct Change {
        let sinks: [JournalSink]
        let added: [RunningSink]
        let removed: [RunningSink]
    }

    /// Opens the sinks of a configuration; delivery begins with `run()`.
    ///
    /// - Parameters:
    ///   - forgotten: whose hits are delivered without their subject.
    ///   - ownSinks: those that are no kind of this program's.
    /// - Throws: the error of a backend that cannot be opened.
    init(
        _ configuration: ServerConfiguration, _ journal: Journal, _ deadLetters: DeadLetters,
        _ metrics: ServerMetrics, forgotten: ForgottenSubjects,
        logger: Logger, ownSinks: [any Sink] = []
    ) throws {
        let factory = SinkFactory(configuration, logger, ownSinks: ownSinks)
        (self.changes, self.changing) = AsyncStream.makeStream()
        self.journal = journal
        self.deadLetters = deadLetters
        self.metrics = metrics
        self.forgotten = forgotten
        self.maxLinks = configuration.traces.limits.links
        self.maxBatch = configuration.maxDelivery
        self.flushTimeout = configuration.flushTimeout
        self.logger = logger
        let sinks = try configuration.sinks.map {
            try factory.sink($0, of: journal, forgotten: forgotten)
        }
        self.state = Mutex(State(sinks: sinks, first: sinks))
    }

    /// The sinks, in the order of the configuration.
    var sinks: [RunningSink] { self.state.withLock(\.sinks) }

    /// At one moment, the sinks, and those that were removed and whose last batch may be under way.
    var openSinks: (running: [RunningSink], ending: [RunningSink]) {
        self.state.withLock { ($0.sinks, $0.ending) }
    }

    /// The names of the sinks besides these of which the journal has cursors. One that has ended is
    /// among them at once: groups are kept for it until those that were removed with it have ended.
    func closedSinks(besides open: [RunningSink]) -> [String] {
        let names = Set(open.map(\.name))
        return self.journal.storedSinks.filter { !names.contains($0) }
    }

    /// Delivers until shutdown.
    ///
    /// - Throws: an error if a batch cannot be read.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for sink in self.takeFirst() { self.begin(sink, in: &group) }
            for await change in self.changes.cancelOnGracefulShutdown() {
                await self.end(change.removed)
                // On a full disk it waits for room.
                await cancelWhenGracefulShutdown { await self.journal.use(change.sinks) }
                for sink in change.added { self.begin(sink, in: &group) }
                self.logger.info(
                    "the sinks have changed",
                    metadata: [
                        "added": .array(change.added.map { .string($0.name) }),
                        "removed": .array(change.removed.map { .string($0.name) }),
                    ])
            }
        }
    }

    private func takeFirst() -> [RunningSink] {
        self.state.withLock { state in
            defer { state.first = [] }
            return state.first
        }
    }

    private func begin(
        _ sink: RunningSink, in group: inout ThrowingDiscardingTaskGroup<any Error>
    ) {
        let forwarder = Forwarder(
            from: self.journal, to: sink.sink, database: sink.opened.database, state: sink.state,
            deadLetters: self.deadLetters, metrics: self.metrics.sink(sink.name),
            logger: self.logger, maxLinks: self.maxLinks, maxBatch: self.maxBatch,
            flushTimeout: self.flushTimeout)
        group.addTask {
            do {
                try await sink.run(forwarder)
            } catch {
                // Lets the service end with this error.
                self.changing.finish()
                throw error
            }
        }
    }

    /// Ends delivery to sinks. Their cursors stay.
    private func end(_ sinks: [RunningSink]) async {
        for sink in sinks {
            await sink.remove()
            self.state.withLock { $0.ending.removeAll { $0.name == sink.name } }
        }
    }

    // MARK: Reloading

    /// Opens the backends of new sinks; what it returns puts all that has changed in force. What an
    /// operator has paused stays so where the configuration has not changed that.
    ///
    /// - Throws: `ConfigurationError` for a sink that is still ending, or the error of a backend
    ///   that cannot be opened.
    func prepare(_ next: ServerConfiguration) throws -> @Sendable () -> Void {
        let (sinks, ending) = self.openSinks
        let factory = SinkFactory(next, self.logger)
        var added: [RunningSink] = []
        for listed in next.sinks where !sinks.contains(where: { $0.name == listed.name }) {
            guard !ending.contains(where: { $0.name == listed.name }) else {
                throw ConfigurationError([
                    "sinks: the last delivery to \(listed.name), which was removed, has not ended "
                        + "yet: reload again later"
                ])
            }
            added.append(
                try factory.sink(listed, of: self.journal, forgotten: self.forgotten))
        }
        return { [added] in self.change(to: next, adding: added) }
    }

    private func change(to configuration: ServerConfiguration, adding added: [RunningSink]) {
        let (before, next) = (self.sinks, configuration.sinks)
        guard before.map(\.listed) != next else { return }
        let kept = before.compactMap { sink in
            next.first { $0.name == sink.name }.map { self.changed(sink, to: $0) }
        }
        let removed = before.filter { sink in !next.contains { $0.name == sink.name } }
        self.state.withLock { state in
            state.sinks = next.compactMap { listed in
                (kept + added).first { $0.name == listed.name }
            }
            state.ending += removed
        }
        self.changing.yield(
            Change(sinks: configuration.journalSinks, added: added, removed: removed))
    }

    private func changed(_ sink: RunningSink, to next: ListedSink) -> RunningSink {
        if sink.listed.kind != next.kind || sink.listed.settings != next.settings {
            self.logger.warning(
                """
                a sink's type and the keys of its type change with a restart, or under another name
                """,
                metadata: ["sink": "\(sink.name)"])
        }
        sink.state.set(isRequired: next.journalSink.isRequired, filter: next.filter)
        if next.isPaused != sink.listed.isPaused {
            if next.isPaused { sink.state.pause() } else { sink.state.resume() }
        }
        var sink = sink
        sink.listed = next
        return sink
    }
}

extension RunningSinks: SinkOperator {
    var states: [SinkState] { self.sinks.map(\.state) }

    var formerSinks: [String] { self.journal.formerSinks }

    func forget(_ name: String) async throws {
        let isInUse = self.state.withLock { state in
            (state.ending + state.sinks).contains { $0.name == name }
        }
        if isInUse { throw SinkOperationError.inUse(name) }
        let isForgotten = await cancelWhenGracefulShutdown {
            await self.journal.forget(sink: name)
        }
        guard isForgotten else {
            // It has ended, but not yet all that were removed with it.
            if self.journal.storedSinks.contains(name) { throw SinkOperationError.inUse(name) }
            throw SinkOperationError.unknownFormerSink(name, known: self.formerSinks)
        }
        self.logger.info("a former sink is forgotten", metadata: ["sink": "\(name)"])
    }
}
