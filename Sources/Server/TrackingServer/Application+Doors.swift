// The doors of the HTTP port, in the order in which they are asked.
internal import Credentials
internal import GRPCCore
internal import HTTP2Edge
internal import HTTPDoor
internal import Logging
internal import ServerConfiguration

extension Application {
    /// The HTTP port, whose doors call the same services as the gRPC port does; nil if it is off.
    static func doors(
        _ parts: ServedParts, onListening: @escaping @Sendable (String) -> Void
    ) throws -> DoorService? {
        let (configuration, ingest, logger) = (parts.configuration, parts.ingest, parts.logger)
        guard let address = configuration.http.address else { return nil }
        let limits = Self.messageLimits(configuration, ingest)
        let transport = DoorTransport(
            limits: limits, ending: EdgeTrailers.ending(onRefusal: ingest.metrics.countRefusal))
        let server = GRPCServer(
            transport: transport,
            services: try Self.services(parts),
            interceptors: Self.interceptors(configuration, parts.access))
        let door = HTTPDoor(
            configuration.http, at: address, limits: limits,
            admission: ConnectionAdmission(
                configuration.http.connections(configuration.connections),
                ends: ConnectionEnds(logger: logger, onEnd: ingest.metrics.count),
                open: parts.doorConnections),
            connections: parts.doorConnections, tls: try parts.access.certificates?.httpHandlers(),
            doors: Self.doorSwitch(
                configuration, calls: transport, ingest: ingest, logger: logger),
            logger: logger,
            count: { ingest.metrics.count($0) })
        return DoorService(
            door: door, transport: transport, server: server, connections: parts.doorConnections,
            address: "\(address)", onListening: onListening)
    }

    /// Every door, the first that takes a request first: that of postbacks takes all of its hosts.
    private static func doorSwitch(
        _ configuration: ServerConfiguration, calls: any CallServing, ingest: Ingest,
        logger: Logger
    ) -> DoorSwitch {
        let origins = configuration.http.corsOrigins
        let postbacks = PostbackDoor(
            configuration.postback, calls: calls,
            upstream: PostbackUpstream(configuration.postback), logger: logger,
            onPostback: { ingest.metrics.count($0) }, onUpstream: { ingest.metrics.count($0) })
        return DoorSwitch([
            .init(.postback, postbacks),
            .init(
                connect: ConnectDoor(
                    calls: calls, corsOrigins: origins, bulk: ingest.bulkThreads)),
            .init(
                .events,
                EventsDoor(calls: calls, limits: configuration.limits, corsOrigins: origins)),
        ])
    }
}
