// What the gRPC server is made of, apart from where it listens: its services, and what stands in
// front of them in the transport.
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import Logging

extension Application {
    /// Settings and handlers of the transport.
    static func transportConfig(
        _ configuration: ServerConfiguration, _ ingest: Ingest, _ connections: OpenConnections,
        _ logger: Logger
    ) -> HTTP2ServerTransport.Posix.Config {
        .defaults { config in
            // Never left unset: the transport would end a connection at its 101st stream.
            config.http2.maxConcurrentStreams = configuration.streamsPerConnection
            config.http2.targetWindowSize = 1 << 20
            config.http2.maxFrameSize = 1 << 16
            config.rpc.maxRequestPayloadSize = MessageRules.maxBytes
            // An answer tells all that is settled already, so it waits for no other stream's:
            // only for what the event loop has at hand. Any delay takes a timer, which costs
            // two system calls and a wake-up for each flush.
            config.connection.flushCoalescing = .init(maxFlushDelay: .zero, maxBytes: 64 << 10)
            ConnectionGuards(
                configuration.connections,
                ends: ConnectionEnds(logger: logger, onEnd: ingest.metrics.count)
            ).install(in: &config)
            StreamEdges(
                configuration.edge,
                metadataLimit: MetadataLimit(maxBytes: configuration.metadataBytes),
                rules: MessageRules(
                    smallBytes: configuration.smallMessageBytes,
                    timeout: configuration.messageTimeout, waiting: ingest.budget.waiting),
                onRefusal: ingest.metrics.countRefusal
            ).install(in: &config)
            UnreadAnswersHandler.install(in: &config, configuration.stream.answerTimeout)
            RequestRuns.install(in: &config)
            connections.install(in: &config)
        }
    }

    /// The service that takes events, and those by which the server tells of itself.
    static func services(
        _ configuration: ServerConfiguration, _ ingest: Ingest, _ board: HealthBoard
    ) throws -> [any RegistrableRPCService] {
        let tracking = TrackingService(ingest: ingest, stream: configuration.stream)
        let health = HealthService(board: board)
        guard configuration.edge.isReflectionEnabled else { return [tracking, health] }
        return [tracking, health, ReflectionService(index: try DescriptorIndex())]
    }
}
