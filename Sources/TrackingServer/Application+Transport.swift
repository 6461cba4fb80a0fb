internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import HTTP2Edge
internal import Logging
internal import ServerConfiguration

extension Application {
    /// The transport's settings, and the handlers that the edge adds to its pipelines.
    static func transportConfig(
        _ configuration: ServerConfiguration, _ ingest: Ingest, _ connections: OpenConnections,
        _ logger: Logger
    ) -> HTTP2ServerTransport.Posix.Config {
        let pipeline = EdgePipeline(
            configuration.edge, connections: configuration.connections,
            connectionEnds: ConnectionEnds(logger: logger, onEnd: ingest.metrics.count),
            openConnections: connections,
            rules: MessageRules(
                configuration.edge, streamPath: TrackingService.streamPath,
                methodBytes: TrackingService.messageBytes, waiting: ingest.budget.waiting),
            callEnding: EdgeTrailers.ending(onRefusal: ingest.metrics.countRefusal))
        return .defaults { pipeline.install(in: &$0) }
    }

    /// The tracking service, health checks and server reflection.
    static func services(
        _ configuration: ServerConfiguration, _ ingest: Ingest, _ board: HealthBoard
    ) throws -> [any RegistrableRPCService] {
        let tracking = TrackingService(ingest: ingest, stream: configuration.stream)
        let health = HealthService(board: board)
        guard configuration.isReflectionEnabled else { return [tracking, health] }
        return [tracking, health, ReflectionService(index: try DescriptorIndex())]
    }
}
