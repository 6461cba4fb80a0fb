// Assembles the service. Its parts start in the order of their list and stop in reverse.
internal import AdminServer
internal import Credentials
internal import EventQuarantine
internal import Foundation
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import HTTP2Edge
package import Logging
internal import NIOCore
package import ServerConfiguration
internal import ServiceLifecycle
internal import ServiceManager
internal import SubjectPrivacy
internal import Synchronization
package import Telemetry
internal import Tracing
internal import TrackingCore
package import TrackingJournal
package import TrackingSinks
internal import UnixSignals
internal import VerdictTap

/// A whole server: journal, forwarder, gRPC and admin services.
package struct Application: Sendable {
    private let life: LifeLog
    private let lock: DirectoryLock
    private let journal: Journal
    private let sinks: RunningSinks
    private let services: ServiceGroup
    private let certificates: ServerCertificates?
    /// The server's metrics.
    package let metrics: MetricsRegistry
    private let spans: SpanExporter?

    /// Opens the data directory and its files; nothing listens yet.
    ///
    /// - Parameters:
    ///   - build: the program's, for the admin page, metrics and the journal's files.
    ///   - reloader: reloads the configuration on SIGHUP; nil ignores the signal.
    ///   - ownSinks: sinks that are no kind of this program's; the configuration lists their names.
    ///   - onAdminListening: called with the admin page's URL once the port is bound.
    ///   - onListening: called with the gRPC address once the port is bound.
    ///   - onFailure: called when the journal's disk has failed; the process must then exit with
    ///     74.
    /// - Throws: `ConfigurationError` if TLS or credential files are unusable, `JournalError`,
    ///   `FileFormatError`, or the error of a sink that cannot be opened.
    package init(
        configuration: ServerConfiguration, build: Build, logger: Logger,
        reloader: Reloader? = nil, ownSinks: [any Sink] = [],
        onAdminListening: @escaping @Sendable (String) -> Void = { _ in },
        onListening: @escaping @Sendable (String) -> Void,
        onFailure: @escaping @Sendable (JournalError) -> Void
    ) async throws {
        let directory = configuration.dataDirectory
        let life = LifeLog(configuration, build: build, logger: logger)
        self.life = life
        self.certificates = try Self.certificates(configuration, logger)
        let authenticator = try await Self.authenticator(configuration, logger)
        if let authenticator {
            reloader?.add(Reloadable("credentials") { try await authenticator.prepare($0.auth) })
        }
        let quotas = try TenantQuotas(configuration.quotas)
        reloader?.add(Reloadable("quotas") { try quotas.prepare($0.quotas) })
        self.spans = try Self.spanExporter(configuration, logger)
        self.lock = try DirectoryLock(directory: directory)
        let observations = AdminObservations(configuration.admin)
        let metrics = ServerMetrics()
        self.metrics = metrics.registry
        var journalConfiguration = configuration.journal
        journalConfiguration.program = "Sightline \(build.version)"
        self.journal = try Journal(
            directory: directory + "/journal", sinks: configuration.journalSinks,
            configuration: journalConfiguration, onCommit: { metrics.countCommit($0) },
            onFailure: onFailure)
        let journal = self.journal
        life.recovered(journal.recovery)
        let keys = try SubjectKeys(configuration.privacy)
        let forgotten = try await ForgottenFile(
            directory: directory, maxCount: configuration.privacy.maxForgotten, logger: logger)
        let deadLetters = try DeadLetters(
            path: directory + "/dead_letters.db", maxRows: configuration.maxDeadLetters,
            forgotten: forgotten.subjects, logger: logger)
        let sinks = try RunningSinks(
            configuration, journal, deadLetters, metrics, forgotten: forgotten.subjects,
            funnels: observations.hasPage ? observations.funnels : nil, logger: logger,
            ownSinks: ownSinks)
        self.sinks = sinks
        reloader?.add(Reloadable("sinks") { try sinks.prepare($0) })
        let quarantine = try Self.quarantine(
            configuration, version: build.version, forgotten.subjects, logger)
        let eraser = SubjectEraser(forgotten, keys: keys, logger: logger) {
            Self.places(sinks, deadLetters, quarantine?.file)
        }
        let ingest = Self.ingest(
            configuration, keys, journal, quotas, metrics, observations.rejections, quarantine)
        let board = HealthBoard(maxWatchers: configuration.maxHealthWatchers) { journal.isTaking }
        let connections = OpenConnections()
        metrics.collect(journal)
        metrics.collect(board)
        if let reloader { metrics.collect(reloader) }
        metrics.collect(sinks, dataDirectory: directory)
        if let quarantine { metrics.collect(quarantine) }
        metrics.collect(build, budget: ingest.budget, connections: connections)
        if let certificates { metrics.collect(certificates) }
        if let spans { metrics.collect(spans.counts) }
        let notifier = ServiceNotifier(environment: ProcessInfo.processInfo.environment) {
            await journal.probe()
        }
        if let notifier {
            reloader?.observe(
                begin: { notifier.reloading() }, end: { notifier.ready("reloaded") })
        }
        // "Listening" is announced only once the admin server answers too.
        let (adminBound, adminBinding) = AsyncStream.makeStream(of: Void.self)
        if !observations.hasPage { adminBinding.finish() }
        let grpc = GRPCService(
            server: try Self.server(
                configuration, ingest, board, connections, self.certificates, authenticator,
                eraser, logger),
            board: board, connections: connections, tap: ingest.tap,
            address: "\(configuration.host):\(configuration.port)",
            adminBound: adminBound, drainDelay: configuration.drainDelay,
            drainTimeout: configuration.drainTimeout, logger: logger,
            onListening: { address in
                life.started(address: address)
                notifier?.ready("takes events on \(address)")
                onListening(address)
            },
            onDrain: { notifier?.stopping() })
        // Starts first and stops last, so that the last summary covers everything and the exporter
        // gets every span.
        let summary = LogSummary(
            of: metrics.registry, every: configuration.logSummaryInterval, logger: logger)
        var services: [any Service] = [summary] + [notifier].compactMap(\.self)
        if let spans { services.append(spans) }
        services.append(JournalService(journal: self.journal))
        services.append(sinks)
        if let quarantine { services.append(quarantine) }
        if let reloader { services.append(reloader) }
        if let certificates {
            reloader?.add(Reloadable("certificates") { try certificates.prepare($0.tls) })
            services.append(certificates)
        }
        services += observations.services(
            build: build, directory: directory, registry: metrics.registry,
            sinks: sinks, ledger: { await journal.ledger() }, tap: ingest.tap,
            recovery: Recovery(of: quarantine?.file, record: ingest.recover), subjects: eraser,
            obstacles: { board.obstacles },
            logger: logger,
            onListening: { address in
                onAdminListening(address)
                adminBinding.finish()
            })
        services.append(grpc)
        self.services = Self.group(services, configuration.drainDelay, logger)
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

    private static func certificates(
        _ configuration: ServerConfiguration, _ logger: Logger
    ) throws(ConfigurationError) -> ServerCertificates? {
        guard configuration.tls.mode != .off else { return nil }
        return try ServerCertificates(configuration.tls, logger: logger)
    }

    private static func authenticator(
        _ configuration: ServerConfiguration, _ logger: Logger
    ) async throws(ConfigurationError) -> Authenticator? {
        guard !configuration.auth.modes.isEmpty else { return nil }
        return try await Authenticator(configuration.auth, logger: logger)
    }

    private static func spanExporter(
        _ configuration: ServerConfiguration, _ logger: Logger
    ) throws(ConfigurationError) -> SpanExporter? {
        let traces = configuration.traces
        guard traces.isEnabled, let endpoint = traces.endpoint else { return nil }
        do {
            return try SpanExporter(to: endpoint, traces, logger: logger)
        } catch {
            throw ConfigurationError([
                "telemetry.traces: no connection can be made with its certificate, key and roots: "
                    + "\(error)"
            ])
        }
    }

    private static func quarantine(
        _ configuration: ServerConfiguration, version: String, _ forgotten: ForgottenSubjects,
        _ logger: Logger
    ) throws -> Quarantine? {
        guard configuration.quarantine.isOn else { return nil }
        let file = try QuarantineFile(
            directory: configuration.dataDirectory, configuration.quarantine, version: version,
            limits: configuration.limits, forgotten: forgotten, logger: logger)
        return Quarantine(file, configuration.quarantine, logger: logger)
    }

    /// Where a subject is erased. The sinks first: what they refuse meanwhile is a dead letter.
    private static func places(
        _ sinks: RunningSinks, _ deadLetters: DeadLetters, _ quarantine: QuarantineFile?
    ) -> [SubjectEraser.Place] {
        var places = sinks.sinks.map { SubjectEraser.Place($0.name, $0.sink.erase) }
        places.append(SubjectEraser.Place(file: "dead_letters.db", deadLetters.erase))
        if let quarantine {
            places.append(SubjectEraser.Place(file: QuarantineFile.name, quarantine.erase))
        }
        return places + [.journal]
    }

    private static func ingest(
        _ configuration: ServerConfiguration, _ keys: SubjectKeys, _ journal: Journal,
        _ quotas: TenantQuotas, _ metrics: ServerMetrics, _ rejections: RejectionLog?,
        _ quarantine: Quarantine?
    ) -> Ingest {
        Ingest(
            admission: Admission(
                rules: RuleSet(policy: configuration.policy, limits: configuration.limits),
                subjects: keys.admissionHash(configuration.privacy)),
            journal: journal,
            budget: MemoryBudget(
                hardBytes: configuration.bytesInFlight,
                softPercent: configuration.bytesInFlightSoftPercent,
                waitingBytes: configuration.edge.bytesWaiting),
            quotas: quotas, metrics: metrics, rejections: rejections,
            tap: VerdictTap(configuration.tap, limits: configuration.limits),
            quarantine: quarantine)
    }

    private static func group(
        _ services: [any Service], _ delay: Duration, _ logger: Logger
    ) -> ServiceGroup {
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(22) + delay
        return ServiceGroup(configuration: group)
    }
}

extension Result where Failure == any Error {
    /// Captures what `body` returns or throws.
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
