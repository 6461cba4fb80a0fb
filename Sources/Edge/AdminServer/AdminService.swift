internal import ConfigurationKeys
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

/// The admin HTTP server, apart from the gRPC port. It stops after the gRPC server, so that probes
/// can observe the drain.
struct AdminService: Service {
    let configuration: AdminConfiguration
    let address: ListenAddress
    let routes: AdminRoutes
    let logger: Logger
    /// Called with the page's URL once the port is bound.
    let onListening: @Sendable (String) -> Void

    /// Serves until shutdown.
    ///
    /// - Throws: `ListenError` if the port cannot be bound.
    func run() async throws {
        var libraryLogger = self.logger
        // The library logs every start and every disconnect at lower levels.
        libraryLogger.logLevel = .warning
        let server = Application(
            router: self.routes.router,
            server: AdminHTTP.server(
                self.configuration, answerTimeout: self.configuration.answerTimeout),
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

    private func announce(_ channel: any Channel) {
        var address = self.address
        address.port = channel.localAddress?.port ?? address.port
        self.logger.info("admin listening", metadata: ["address": "\(address)"])
        self.onListening("http://\(address)/")
    }
}

extension AdminService: CustomStringConvertible {
    /// A short name, since service groups log their services' descriptions.
    var description: String { "AdminService" }
}
