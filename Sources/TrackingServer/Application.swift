// The whole service, wired: the only file that knows every concrete type. The services' order is
// the order of start, and its reverse the order of stop.
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
package import Logging
internal import ServiceLifecycle
internal import TrackingCore
package import TrackingJournal
internal import TrackingSinks
internal import UnixSignals

/// A server: journal, forwarder and gRPC service.
package struct Application: Sendable {
    private let logger: Logger
    private let lock: DirectoryLock
    private let journal: Journal
    private let services: ServiceGroup

    /// Opens the data directory and everything in it; nothing listens yet.
    ///
    /// - Parameters:
    ///   - onListening: called with the address once the port is bound.
    ///   - onFailure: called when the journal's disk has failed: the process has to end with 74.
    /// - Throws: `JournalError`, or what a sink says that cannot be opened.
    package init(
        configuration: ServerConfiguration, logger: Logger,
        onListening: @escaping @Sendable (String) -> Void,
        onFailure: @escaping @Sendable (JournalError) -> Void
    ) throws {
        let directory = configuration.dataDirectory
        self.logger = logger
        self.lock = try DirectoryLock(directory: directory)
        let sink = try Self.sink(configuration)
        self.journal = try Journal(
            path: directory + "/journal.db", sinks: [sink.name],
            configuration: configuration.journal, onFailure: onFailure)
        let deadLetters = try DeadLetters(
            path: directory + "/dead_letters.db", maxRows: configuration.maxDeadLetters)
        let forwarder = Forwarder(
            from: self.journal, to: sink, deadLetters: deadLetters, logger: logger)
        let ingest = Ingest(
            admission: Admission(
                rules: RuleSet(policy: configuration.policy, limits: configuration.limits)),
            journal: self.journal, tenant: "default")
        let grpc = GRPCService(
            server: Self.server(configuration, ingest), drainTimeout: configuration.drainTimeout,
            logger: logger, onListening: onListening)
        var group = ServiceGroupConfiguration(
            services: [JournalService(journal: self.journal), forwarder, grpc],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(22)
        self.services = ServiceGroup(configuration: group)
    }

    /// Runs until SIGTERM, SIGINT or `stop()`, and ends within 25 s of it: every request that was
    /// read is answered, the sink gets what it can take, and the journal is closed.
    ///
    /// - Throws: what made a service fail, such as a port that is in use.
    package func run() async throws {
        let outcome = await Result { try await self.services.run() }
        await self.journal.close()
        do {
            try outcome.get()
        } catch is CancellationError {
            self.logger.warning("the drain took too long, what is left stays in the journal")
        }
    }

    /// Begins the same stop as SIGTERM, for whoever runs it inside another process; returns at
    /// once.
    package func stop() async { await self.services.triggerGracefulShutdown() }

    private static func sink(_ configuration: ServerConfiguration) throws -> any Sink {
        let directory = configuration.dataDirectory
        switch configuration.sink {
        case "jsonl":
            return try JSONLinesSink(
                directory: directory + "/hits", maxFileBytes: configuration.jsonLinesFileBytes)
        case "stdout": return StandardOutputSink()
        case "discard": return DiscardSink()
        default: return try SQLiteSink(path: directory + "/hits.db")
        }
    }

    private static func server(
        _ configuration: ServerConfiguration, _ ingest: Ingest
    ) -> GRPCServer<HTTP2ServerTransport.Posix> {
        let transport = HTTP2ServerTransport.Posix(
            address: configuration.host.contains(":")
                ? .ipv6(host: configuration.host, port: configuration.port)
                : .ipv4(host: configuration.host, port: configuration.port),
            transportSecurity: .plaintext,
            config: .defaults { config in
                // Never left unset: the transport would end a connection at its 101st stream.
                config.http2.maxConcurrentStreams = configuration.streamsPerConnection
                config.http2.targetWindowSize = 1 << 20
                config.http2.maxFrameSize = 1 << 16
                config.rpc.maxRequestPayloadSize = 1 << 20
                config.channelDebuggingCallbacks.onAcceptTCPConnection = {
                    DataFrameJoiningHandler.add(to: $0)
                }
                config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { channel in
                    RequestRunHandler.add(to: channel, path: TrackingService.streamPath)
                }
            })
        return GRPCServer(
            transport: transport,
            services: [TrackingService(ingest: ingest, stream: configuration.stream)])
    }
}

extension Result where Failure == any Error {
    /// What `body` returns or throws, kept for later.
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
