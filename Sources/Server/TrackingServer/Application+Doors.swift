// The doors of the HTTP port, in the order in which they are asked.
internal import AdminServer
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
        let checks = CallChecks(configuration, parts.access)
        let recording = DirectRecording(
            service: TrackingService(ingest: ingest, stream: configuration.stream), checks: checks)
        let transport = DoorTransport(
            limits: limits, direct: [DirectRecording.method: recording.record],
            ending: EdgeTrailers.ending(onRefusal: ingest.metrics.countRefusal),
            credentials: Self.credentialCheck(parts))
        let server = GRPCServer(
            transport: transport,
            services: try Self.services(parts),
            interceptors: checks.interceptors)
        let door = HTTPDoor(
            configuration.http, at: address, limits: limits,
            admission: ConnectionAdmission(
                configuration.http.connections(configuration.connections),
                ends: ConnectionEnds(logger: logger, onEnd: ingest.metrics.count),
                open: parts.doorConnections),
            connections: parts.doorConnections, tls: try parts.access.certificates?.httpHandlers(),
            doors: try Self.doorSwitch(parts, calls: transport),
            logger: logger,
            count: { ingest.metrics.count($0) })
        let page = parts.sendingPage
        return DoorService(
            door: door, transport: transport, server: server, connections: parts.doorConnections,
            address: "\(address)",
            onListening: { url in
                page?.offerTestEvents(at: url)
                onListening(url)
            })
    }

    /// Checks credentials as `AuthenticationInterceptor` does, for methods with the usual scope.
    private static func credentialCheck(_ parts: ServedParts) -> DoorTransport.CredentialCheck {
        let (authenticator, metrics) = (parts.access.authenticator, parts.ingest.metrics)
        return { metadata, certificate in
            do throws(CredentialRefusal) {
                _ = try authenticator?.principal(
                    metadata, certificate: certificate, needsScope: true)
                return nil
            } catch {
                let error = ServiceError(error)
                metrics.countRefusal(error.reason)
                return EdgeTrailers.end(error.status)
            }
        }
    }

    /// Every door, the first that takes a request first: that of postbacks takes all of its hosts.
    private static func doorSwitch(
        _ parts: ServedParts, calls: any CallServing
    ) throws -> DoorSwitch {
        let (configuration, ingest) = (parts.configuration, parts.ingest)
        let origins = configuration.http.corsOrigins
        let pageOrigins = parts.sendingPage.map { page in { @Sendable in page.origins } }
        let postbacks = PostbackDoor(
            configuration.postback, calls: calls,
            upstream: PostbackUpstream(configuration.postback), logger: parts.logger,
            onPostback: { ingest.metrics.count($0) }, onUpstream: { ingest.metrics.count($0) })
        return try DoorSwitch([
            .init(.postback, postbacks),
            .init(
                connect: ConnectDoor(
                    calls: calls, corsOrigins: origins, pageOrigins: pageOrigins,
                    bulk: ingest.bulkThreads)),
            .init(
                .events,
                EventsDoor(
                    calls: calls, limits: configuration.limits, corsOrigins: origins,
                    pageOrigins: pageOrigins, bulk: ingest.bulkThreads)),
        ])
    }
}
