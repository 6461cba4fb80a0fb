package import Logging
package import ServiceLifecycle
package import Telemetry
package import TrackingSinks

/// The funnels and rejections that the admin server shows. Without an admin server none are
/// collected.
package struct AdminObservations {
    /// Funnels of deliveries, by the hits that the sink got.
    package let funnels: LiveFunnels
    /// The last rejections.
    package let rejections: RejectionLog
    private let configuration: AdminConfiguration
    private let address: AdminConfiguration.Address

    /// Creates empty ones; nil if there is no admin server.
    package init?(_ configuration: AdminConfiguration) {
        guard let address = configuration.address else { return nil }
        self.configuration = configuration
        self.address = address
        self.funnels = LiveFunnels(capacity: configuration.maxDeliveries)
        self.rejections = RejectionLog(maxRows: configuration.maxRejections)
    }

    /// The services that present them, in the order of their start.
    ///
    /// - Parameters:
    ///   - version: the program's version.
    ///   - registry: the server's metrics.
    ///   - obstacles: the reasons why the server is not ready, for people; empty if it is.
    ///   - onListening: called with the page's URL once the port is bound.
    package func services(
        version: String, registry: MetricsRegistry,
        obstacles: @escaping @Sendable () -> [String], logger: Logger,
        onListening: @escaping @Sendable (String) -> Void
    ) -> [any Service] {
        let statistics = StatisticsService(
            version: version, historySeconds: self.configuration.historySeconds,
            registry: registry, obstacles: obstacles, funnels: self.funnels,
            rejections: self.rejections)
        let routes = AdminRoutes(
            version: version, registry: registry, obstacles: obstacles, statistics: statistics,
            page: AdminPage(), hostNames: self.configuration.hostNames)
        let server = AdminService(
            configuration: self.configuration, address: self.address, routes: routes,
            logger: logger, onListening: onListening)
        return [statistics, server]
    }
}
