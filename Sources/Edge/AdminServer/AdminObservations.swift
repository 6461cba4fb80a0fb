internal import Delivery
package import Logging
package import Operations
package import ServiceLifecycle
package import Telemetry
package import TrackingJournal

/// The rejections that the admin server shows, and the services that show them beside the metrics
/// and the ledger.
package struct AdminObservations {
    /// The last rejections.
    package let rejections: RejectionLog
    /// The live page.
    package let page = LivePage()
    private let configuration: AdminConfiguration

    /// Fields and rules whose last rejections the page shows.
    private static let maxRejections = 50

    /// Creates observations without rejections.
    package init(_ configuration: AdminConfiguration) {
        self.configuration = configuration
        self.rejections = RejectionLog(maxRows: Self.maxRejections)
    }

    /// Whether it listens on an address, besides the socket in the data directory.
    package var hasPage: Bool { self.configuration.address != nil }

    /// The admin server's services, in the order of their start.
    ///
    /// - Parameters:
    ///   - build: the program's version and how it was built.
    ///   - directory: the data directory, for the admin socket.
    ///   - registry: the server's metrics.
    ///   - sinks: carries out what the socket asks of the sinks.
    ///   - tap: the verdicts that the socket shows.
    ///   - recovery: judges kept events again for the socket.
    ///   - subjects: forgets subjects for the socket.
    ///   - ledger: returns the ledger's present state.
    ///   - deliveries: tells what tenants have put of deliveries.
    ///   - notReadyReasons: returns the reasons why the server is not ready, for people;
    ///     empty if it is.
    ///   - onListening: called with the page's URL once the port is bound.
    package func services(
        build: Build, directory: String, registry: MetricsRegistry, sinks: any SinkOperator,
        ledger: @escaping @Sendable () async -> Ledger,
        deliveries: any DeliveryTotalsStoring, tap: VerdictTap,
        recovery: any EventRecovery, subjects: any SubjectForgetting,
        notReadyReasons: @escaping @Sendable () -> [String],
        logger: Logger,
        onListening: @escaping @Sendable (String) -> Void
    ) -> [any Service] {
        let statistics = StatisticsService(
            version: build.version, historySeconds: self.configuration.historySeconds,
            registry: registry, notReadyReasons: notReadyReasons, sinks: sinks,
            rejections: self.rejections, ledger: ledger, deliveries: deliveries)
        let routes = AdminRoutes(
            build: build, registry: registry, notReadyReasons: notReadyReasons,
            statistics: statistics,
            page: self.page, hostNames: self.configuration.hostNames)
        let socket = AdminSocket(
            directory: directory, configuration: self.configuration,
            routes: routes, sinks: SinkRoutes(sinks: sinks),
            ledger: LedgerRoutes(ledger: ledger, deliveries: deliveries),
            tap: TapRoutes(tap: tap), quarantine: QuarantineRoutes(recovery: recovery),
            privacy: PrivacyRoutes(subjects: subjects), logger: logger)
        guard let address = self.configuration.address else { return [statistics, socket] }
        let page = self.page
        let server = AdminService(
            configuration: self.configuration, address: address, routes: routes, logger: logger
        ) { url in
            page.listens(at: url)
            onListening(url)
        }
        return [statistics, socket, server]
    }
}
