// What is kept for those who look at the server: made before what it observes, shown after it.
internal import Logging
internal import ServiceLifecycle
internal import Telemetry
internal import TrackingSinks

/// The funnels and rejections that the admin server shows; without one nobody keeps any.
struct AdminObservations {
    let funnels: DeliveryFunnels
    let rejections: RejectionLog
    private let configuration: AdminConfiguration
    private let address: AdminConfiguration.Address

    /// Empty ones; nil where there is no admin server.
    init?(_ configuration: AdminConfiguration) {
        guard let address = configuration.address else { return nil }
        self.configuration = configuration
        self.address = address
        self.funnels = DeliveryFunnels(capacity: configuration.maxDeliveries)
        self.rejections = RejectionLog(maxRows: configuration.maxRejections)
    }

    /// The services that show them, in the order of start.
    func services(
        version: String, registry: MetricsRegistry, board: HealthBoard, logger: Logger,
        onListening: @escaping @Sendable (String) -> Void
    ) -> [any Service] {
        let statistics = StatisticsService(
            version: version, historySeconds: self.configuration.historySeconds,
            registry: registry, board: board, funnels: self.funnels, rejections: self.rejections)
        let routes = AdminRoutes(
            version: version, registry: registry, board: board, statistics: statistics,
            page: AdminPage(), hostNames: self.configuration.hostNames)
        let server = AdminServer(
            configuration: self.configuration, address: self.address, routes: routes,
            logger: logger, onListening: onListening)
        return [statistics, server]
    }
}
