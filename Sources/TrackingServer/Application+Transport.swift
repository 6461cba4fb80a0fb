// What the gRPC server is made of, apart from where it listens: its services, and what stands in
// front of them in the transport.
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import HTTP2Edge
internal import Logging
internal import ServerConfiguration

extension Application {
    /// Settings and handlers of the transport.
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

    /// The service that takes events, and those by which the server tells of itself.
    static func services(
        _ configuration: ServerConfiguration, _ ingest: Ingest, _ board: HealthBoard
    ) throws -> [any RegistrableRPCService] {
        let tracking = TrackingService(ingest: ingest, stream: configuration.stream)
        let health = HealthService(board: board)
        guard configuration.isReflectionEnabled else { return [tracking, health] }
        return [tracking, health, ReflectionService(index: try DescriptorIndex())]
    }
}
