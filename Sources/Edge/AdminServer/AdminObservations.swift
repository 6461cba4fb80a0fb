internal import Delivery
package import Logging
package import Operations
package import ServiceLifecycle
package import Telemetry
package import TrackingJournal

/// What the admin server shows that neither a metric nor the ledger tells, and the services that
/// show it.
package struct AdminObservations {
    /// The last rejections.
    package let rejections: RejectionLog
    private let configuration: AdminConfiguration

    /// Fields and rules whose last rejections the page shows.
    private static let maxRejections = 50

    /// Creates empty ones.
    package init(_ configuration: AdminConfiguration) {
        self.configuration = configuration
        self.rejections = RejectionLog(maxRows: Self.maxRejections)
    }

    /// Whether it listens on an address, besides the socket in the data directory.
    package var hasPage: Bool { self.configuration.address != nil }

    /// The services that present them, in the order of their start.
    ///
    /// - Parameters:
    ///   - build: the program's.
    ///   - directory: the data directory, for the admin socket.
    ///   - registry: the server's metrics.
    ///   - sinks: what the socket does with the sinks.
    ///   - tap: the verdicts that the socket shows.
    ///   - recovery: what the socket recovers.
    ///   - subjects: whom the socket forgets.
    ///   - ledger: the ledger as it is now.
    ///   - obstacles: the reasons why the server is not ready, for people; empty if it is.
    ///   - onListening: called with the page's URL once the port is bound.
    package func services(
        build: Build, directory: String, registry: MetricsRegistry, sinks: any SinkOperator,
        ledger: @escaping @Sendable () async -> Ledger, tap: VerdictTap,
        recovery: any EventRecovery, subjects: any SubjectForgetting,
        obstacles: @escaping @Sendable () -> [String],
        logger: Logger,
        onListening: @escaping @Sendable (String) -> Void
    ) -> [any Service] {
        let statistics = StatisticsService(
            version: build.version, historySeconds: self.configuration.historySeconds,
            registry: registry, obstacles: obstacles, sinks: sinks,
            rejections: self.rejections, ledger: ledger)
        let routes = AdminRoutes(
            build: build, registry: registry, obstacles: obstacles, statistics: statistics,
            page: AdminPage(), hostNames: self.configuration.hostNames)
        let socket = AdminSocket(
            directory: directory, configuration: self.configuration,
            routes: routes, sinks: SinkRoutes(sinks: sinks), ledger: LedgerRoutes(ledger: ledger),
            tap: TapRoutes(tap: tap), quarantine: QuarantineRoutes(recovery: recovery),
            privacy: PrivacyRoutes(subjects: subjects), logger: logger)
        guard let address = self.configuration.address else { return [statistics, socket] }
        let server = AdminService(
            configuration: self.configuration, address: address, routes: routes,
            logger: logger, onListening: onListening)
        return [statistics, socket, server]
    }
}
