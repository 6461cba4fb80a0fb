internal import Credentials
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import HTTP2Edge
internal import Logging
internal import Operations
internal import ServerConfiguration
internal import TrackingJournal

extension Application {
    /// The gRPC server, with the interceptors that check each call's credentials.
    static func server(
        _ parts: ServedParts
    ) throws -> GRPCServer<HTTP2ServerTransport.Posix> {
        let (configuration, access) = (parts.configuration, parts.access)
        let transport = HTTP2ServerTransport.Posix(
            address: configuration.host.contains(":")
                ? .ipv6(host: configuration.host, port: configuration.port)
                : .ipv4(host: configuration.host, port: configuration.port),
            transportSecurity: try access.certificates?.transportSecurity() ?? .plaintext,
            config: Self.transportConfig(
                configuration: configuration, ingest: parts.ingest, connections: parts.connections,
                logger: parts.logger))
        return GRPCServer(
            transport: transport,
            services: try Self.services(parts),
            interceptors: CallChecks(configuration, access).interceptors)
    }

    /// The limits on messages, and the counter of the bytes that wait: one for both ports.
    static func messageLimits(
        _ configuration: ServerConfiguration, _ ingest: Ingest
    ) -> MessageLimits {
        MessageLimits(
            configuration.edge, streamPath: TrackingService.streamPath,
            methodBytes: TrackingService.messageBytes.merging(DeliveryService.messageBytes) {
                max($0, $1)
            }, buffered: ingest.budget.buffered)
    }

    /// The transport's settings, and the handlers that the edge adds to its pipelines.
    static func transportConfig(
        configuration: ServerConfiguration, ingest: Ingest, connections: OpenConnections,
        logger: Logger
    ) -> HTTP2ServerTransport.Posix.Config {
        let pipeline = EdgePipeline(
            configuration.edge,
            connections: ConnectionAdmission(
                configuration.connections,
                ends: ConnectionEnds(logger: logger, onEnd: ingest.metrics.count),
                open: connections),
            messageLimits: Self.messageLimits(configuration, ingest),
            termination: EdgeTrailers.termination(onRefusal: ingest.metrics.countRefusal))
        return .defaults { pipeline.install(in: &$0) }
    }

    /// The tracking service, health checks, the tap, erasure, totals and server reflection.
    static func services(_ parts: ServedParts) throws -> [any RegistrableRPCService] {
        try Self.services(
            configuration: parts.configuration, ingest: parts.ingest, board: parts.board,
            subjects: parts.stores.eraser, deliveries: parts.stores.deliveries)
    }

    /// The same, of the parts that a server may have others of.
    static func services(
        configuration: ServerConfiguration, ingest: Ingest, board: HealthBoard,
        subjects: any SubjectForgetting, deliveries: any DeliveryTotalsStoring
    ) throws -> [any RegistrableRPCService] {
        let services: [any RegistrableRPCService] = [
            TrackingService(
                ingest: ingest, stream: configuration.stream, deliveries: deliveries),
            HealthService(board: board), TapService(verdicts: ingest.tap),
            ErasureService(ingest: ingest, subjects: subjects),
            DeliveryService(ingest: ingest, deliveries: deliveries),
        ]
        guard configuration.isReflectionEnabled else { return services }
        return services + [
            ReflectionService(
                index: try DescriptorIndex(), closing: ServiceError.closing.status)
        ]
    }
}
