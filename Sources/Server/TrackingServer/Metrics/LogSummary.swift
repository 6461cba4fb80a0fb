internal import Logging
internal import ServiceLifecycle
internal import Telemetry

/// Logs a summary of the metrics every few seconds, unless there is nothing to report.
struct LogSummary: Service {
    private let registry: MetricsRegistry
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let logger: Logger

    /// Creates a summary of a registry.
    ///
    /// - Parameters:
    ///   - interval: the time between records; zero disables the summary.
    ///   - clock: used to wait; tests substitute it.
    init(
        of registry: MetricsRegistry, every interval: Duration, logger: Logger,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.registry = registry
        self.interval = interval
        self.clock = clock
        self.logger = logger
    }

    /// Logs until shutdown, and a last time then.
    func run() async throws {
        guard self.interval > .zero else {
            try? await gracefulShutdown()  // Or cancelled.
            return
        }
        var last = ActivityFigures()
        while await self.pause() { self.log(&last) }
        self.log(&last)
    }

    /// Waits for the next record; false if the server stops first.
    private func pause() async -> Bool {
        do {
            try await cancelWhenGracefulShutdown { try await self.clock.sleep(for: self.interval) }
            return true
        } catch {
            return false
        }
    }

    private func log(_ last: inout ActivityFigures) {
        let now = ActivityFigures(self.registry.families())
        if let metadata = now.metadata(since: last) {
            self.logger.info("summary", metadata: metadata)
        }
        last = now
    }
}
