// Assembles the server: the only file that knows all its parts.
internal import AdminServer
internal import ConfigurationKeys
internal import Foundation
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import HTTP2Edge
package import Logging
internal import NIOCore
internal import Operations
package import ServerConfiguration
internal import ServiceLifecycle
package import SinkKit
internal import Storage
internal import Synchronization
package import Telemetry
internal import Tracing
package import TrackingJournal
internal import TrackingRules
internal import UnixSignals
internal import WireFormat

/// A whole server: journal, sinks, gRPC and admin services.
///
/// `sightline serve` and programs with sinks of their own create one from a configuration, which
/// opens all files, and call `run()`, which listens and serves until a signal or `stop()`. The
/// services start in the order of the list in `init`, and stop in reverse: the journal is open
/// before anything that uses it, and closed after it.
///
/// It never listens before its files are open, and never exits with an admitted request unsettled,
/// except when a second signal or the deadline cuts the drain: then the client has no ack for it.
package struct Application: Sendable {
    private let life: LifeLog
    private let lock: DirectoryLock
    private let journal: Journal
    private let sinks: RunningSinks
    private let services: ServiceGroup
    /// The server's metrics.
    package let metrics: MetricsRegistry
    private let spans: SpanExporter?

    /// Opens the data directory and its files; does not listen yet.
    ///
    /// - Parameters:
    ///   - build: the program's build, for the admin page, metrics and the journal's files.
    ///   - reloader: reloads the configuration on SIGHUP; nil ignores the signal.
    ///   - ownSinks: sinks of the embedding program; the configuration lists their names.
    ///   - onAdminListening: called with the admin page's URL once the port is bound.
    ///   - onHTTPListening: called with the HTTP port's URL once it is bound.
    ///   - onListening: called with the gRPC address once the port is bound.
    ///   - onFailure: called when the journal's disk has failed; the process must then exit with
    ///     74.
    /// - Throws: `ConfigurationError` if TLS or credential files are unusable, `JournalError`,
    ///   `FileFormatError`, or the error of a sink that cannot be opened.
    package init(
        configuration: ServerConfiguration, build: Build, logger: Logger,
        reloader: Reloader? = nil, ownSinks: [any Sink] = [],
        onAdminListening: @escaping @Sendable (String) -> Void = { _ in },
        onHTTPListening: @escaping @Sendable (String) -> Void = { _ in },
        onListening: @escaping @Sendable (String) -> Void,
        onFailure: @escaping @Sendable (JournalError) -> Void
    ) async throws {
        let directory = configuration.dataDirectory
        let life = LifeLog(configuration, build: build, logger: logger)
        self.life = life
        let access = try await Access(
            configuration: configuration, reloader: reloader, logger: logger)
        self.spans = try Self.spanExporter(configuration: configuration, logger: logger)
        self.lock = try DirectoryLock(directory: directory)
        let observations = AdminObservations(configuration.admin)
        let metrics = ServerMetrics()
        self.metrics = metrics.registry
        let journal = try Self.journal(
            configuration: configuration, build: build, metrics: metrics, onFailure: onFailure)
        self.journal = journal
        life.recovered(journal.recovery)
        let stores = try await DataStores(
            configuration: configuration, version: build.version, journal: journal,
            metrics: metrics, ownSinks: ownSinks, logger: logger)
        self.sinks = stores.sinks
        reloader?.add(Reloadable("sinks") { try stores.sinks.prepare($0) })
        let ingest = Self.ingest(
            configuration: configuration, journal: journal, stores: stores, quotas: access.quotas,
            metrics: metrics, rejections: observations.rejections)
        let board = HealthBoard(configuration) { journal.isTaking }
        let served = ServedParts(
            configuration: configuration, ingest: ingest, board: board, access: access,
            stores: stores, page: observations.page, logger: logger)
        let notifier = Self.notifier(journal: journal, reloader: reloader)
        let (adminBound, adminBinding) = Self.adminBinding(hasPage: observations.hasPage)
        let grpc = GRPCService(
            server: try Self.server(served),
            doors: try Self.doors(served, onListening: onHTTPListening),
            board: board, connections: served.connections, tap: ingest.tap,
            address: "\(configuration.host):\(configuration.port)", adminBound: adminBound,
            drainTimes: (configuration.drainDelay, configuration.drainTimeout), logger: logger,
            onListening: { address in
                life.started(address: address)
                notifier?.ready("takes events on \(address)")
                onListening(address)
            },
            onDrain: { notifier?.stopping() }, onDrainOver: { await journal.giveUp() })
        // Register collectors before the admin services, which read them at start.
        metrics.collect(served, build: build)
        metrics.collect(journal: journal, stores: stores, dataDirectory: directory)
        metrics.collect(served, reloader: reloader, spans: self.spans?.counts)
        let admin = observations.services(
            build: build, directory: directory, registry: metrics.registry, sinks: stores.sinks,
            ledger: { await journal.ledger() }, deliveries: stores.deliveries, tap: ingest.tap,
            recovery: Recovery(of: stores.quarantine?.file, record: ingest.recover),
            subjects: stores.eraser, notReadyReasons: { board.notReadyReasons }, logger: logger,
            onListening: { address in
                onAdminListening(address)
                adminBinding.finish()
            })
        let first: [(any Service)?] = [
            LogSummary(
                of: metrics.registry, every: configuration.logSummaryInterval, logger: logger),
            notifier, self.spans, JournalService(journal: journal), stores.sinks,
            stores.quarantine, reloader, access.certificates,
        ]
        self.services = Self.group(
            services: first + admin + [grpc], configuration: configuration, logger: logger)
    }

    /// Runs until SIGTERM, SIGINT or `stop()`, and ends within 25 s and the delay of it: answers
    /// every request that was read, flushes to the sink, and closes the journal.
    ///
    /// - Throws: the error that made a service fail, such as a port in use.
    package func run() async throws {
        let stopping = Mutex<ContinuousClock.Instant?>(nil)
        let outcome = await Result {
            try await self.serveUntilSecondSignal { stopping.withLock { $0 = .now } }
        }
        await self.journal.close()
        var isCut = false
        do {
            try outcome.get()
        } catch is CancellationError {
            isCut = true
        }
        let drain = stopping.withLock { $0 }?.duration(to: .now)
        let left = self.sinks.sinks.map { self.journal.lag(of: $0.name).groups }.max() ?? 0
        self.life.stopped(drain: drain, isCut: isCut, left: left)
    }

    /// The first signal begins a graceful shutdown; the second ends it at once, which is safe
    /// because acknowledged events are on disk.
    private func serveUntilSecondSignal(
        onFirst: @escaping @Sendable () -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.runTraced() }
            group.addTask {
                let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
                var hasBegun = false
                for await _ in signals {
                    if hasBegun { throw CancellationError() }
                    hasBegun = true
                    onFirst()
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Runs the services. Spans go to the configured exporter, or else to the process's
    /// bootstrapped tracer, if any.
    private func runTraced() async throws {
        guard let spans else { return try await self.services.run() }
        try await withTracer(spans.tracer) { try await self.services.run() }
    }

    /// Begins the same graceful shutdown as SIGTERM; returns at once. For servers embedded in
    /// another process.
    package func stop() async { await self.services.triggerGracefulShutdown() }

    private static func journal(
        configuration: ServerConfiguration, build: Build, metrics: ServerMetrics,
        onFailure: @escaping @Sendable (JournalError) -> Void
    ) throws -> Journal {
        var journal = configuration.journal
        journal.program = "Sightline \(build.version)"
        return try Journal(
            directory: configuration.dataDirectory + "/journal",
            sinks: configuration.journalSinks, configuration: journal,
            onCommit: { metrics.countCommit($0) }, onFailure: onFailure)
    }

    private static func notifier(
        journal: Journal, reloader: Reloader?
    ) -> ServiceNotifier? {
        let notifier = ServiceNotifier(environment: ProcessInfo.processInfo.environment) {
            await journal.probe()
        }
        guard let notifier else { return nil }
        reloader?.observe(
            begin: { notifier.reloading() }, end: { notifier.ready("reloaded") })
        return notifier
    }

    private static func spanExporter(
        configuration: ServerConfiguration, logger: Logger
    ) throws(ConfigurationError) -> SpanExporter? {
        let traces = configuration.traces
        guard traces.isEnabled, let endpoint = traces.endpoint else { return nil }
        do {
            return try SpanExporter(to: endpoint, traces, logger: logger)
        } catch {
            throw ConfigurationError([
                "telemetry.traces: no connection can be made with its certificate, key and roots: "
                    + String(reasonOf: error)
            ])
        }
    }

    private static func ingest(
        configuration: ServerConfiguration, journal: Journal, stores: DataStores,
        quotas: TenantQuotas, metrics: ServerMetrics, rejections: RejectionLog?
    ) -> Ingest {
        Ingest(
            admission: Admission(
                rules: RuleSet(policy: configuration.policy, limits: configuration.limits),
                subjects: stores.keys.admissionHash(configuration.privacy),
                forgotten: stores.forgotten),
            journal: journal,
            budget: MemoryBudget(
                hardBytes: configuration.bytesInFlight,
                softPercent: configuration.bytesInFlightSoftPercent,
                bufferedBytes: configuration.edge.bytesWaiting),
            quotas: quotas, metrics: metrics, rejections: rejections,
            tap: VerdictTap(configuration.tap, forgotten: stores.forgotten),
            quarantine: stores.quarantine, maxWaitingCalls: configuration.maxWaitingCalls)
    }

    /// What ends once the admin page's port is bound: only then "listening" is announced.
    private static func adminBinding(
        hasPage: Bool
    ) -> (AsyncStream<Void>, AsyncStream<Void>.Continuation) {
        let (bound, binding) = AsyncStream.makeStream(of: Void.self)
        if !hasPage { binding.finish() }
        return (bound, binding)
    }

    /// The group of the services that there are, which start in this order and stop in the reverse
    /// one: the last summary covers everything, and the exporter gets every span.
    private static func group(
        services: [(any Service)?], configuration: ServerConfiguration, logger: Logger
    ) -> ServiceGroup {
        var group = ServiceGroupConfiguration(
            services: services.compactMap(\.self), gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger)
        group.maximumGracefulShutdownDuration = configuration.stopTimeout + configuration.drainDelay
        return ServiceGroup(configuration: group)
    }
}

extension Result where Failure == any Error {
    /// Captures what `body` returns or throws.
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
