// The admin HTTP server as a service: on loopback, beside the gRPC port and not part of it.
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

/// Answers people, probes and Prometheus until shutdown. It stops after the gRPC server, so that a
/// probe sees the drain.
struct AdminService: Service {
    let configuration: AdminConfiguration
    let address: AdminConfiguration.Address
    let routes: AdminRoutes
    let logger: Logger
    /// Called with the page's address once the port is bound.
    let onListening: @Sendable (String) -> Void

    /// Serves.
    ///
    /// - Throws: `ListenError` where the port cannot be had.
    func run() async throws {
        var libraryLogger = self.logger
        // It tells of each start and of each client that went away.
        libraryLogger.logLevel = .warning
        let timeout = self.configuration.answerTimeout
        let headerBytes = self.configuration.headerBytes
        let server = Application(
            router: self.routes.router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [AnswerDeadline(timeout)],
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: headerBytes, maxHeaderListSize: headerBytes,
                        maxHeaderFieldCount: Self.maxHeaderFields))),
            configuration: .init(
                address: .hostname(self.address.host, port: self.address.port),
                availableConnectionsDelegate: MaximumAvailableConnections(
                    self.configuration.maxConnections, logger: libraryLogger)),
            onServerRunning: { channel in self.announce(channel) },
            logger: libraryLogger)
        do {
            try await server.run()
        } catch let error as IOError where ListenError.codes.contains(error.errnoCode) {
            throw ListenError(
                key: "admin.listen", address: "\(self.address)", code: error.errnoCode)
        }
    }

    private static let maxHeaderFields = 100

    private func announce(_ channel: any Channel) {
        var address = self.address
        address.port = channel.localAddress?.port ?? address.port
        self.logger.info("admin listening", metadata: ["address": "\(address)"])
        self.onListening("http://\(address)/")
    }
}

extension AdminService: CustomStringConvertible {
    /// Its name: service groups log their services whole, and this one has a page in it.
    var description: String { "AdminService" }
}
