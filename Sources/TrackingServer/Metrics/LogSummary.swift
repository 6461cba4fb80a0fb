// One log record for thousands of events: what was counted, every few seconds.
internal import Logging
internal import ServiceLifecycle
internal import Telemetry

/// Logs what was counted since its last record, while there is something to tell.
struct LogSummary: Service {
    private let registry: MetricsRegistry
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let logger: Logger

    /// A summary of a registry's figures.
    ///
    /// - Parameters:
    ///   - interval: the time between records; zero for none at all.
    ///   - clock: what the interval is waited by; tests give their own.
    init(
        of registry: MetricsRegistry, every interval: Duration, logger: Logger,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.registry = registry
        self.interval = interval
        self.clock = clock
        self.logger = logger
    }

    /// Logs until the server stops, and then once more.
    func run() async throws {
        guard self.interval > .zero else {
            try? await gracefulShutdown()  // Cancelled: the process ends, as it should.
            return
        }
        var last = ActivityFigures()
        while await self.pause() { self.tell(&last) }
        self.tell(&last)
    }

    /// Waits for the next record's time; false where the server stops first.
    private func pause() async -> Bool {
        do {
            try await cancelWhenGracefulShutdown { try await self.clock.sleep(for: self.interval) }
            return true
        } catch {
            return false
        }
    }

    private func tell(_ last: inout ActivityFigures) {
        let now = ActivityFigures(self.registry.families())
        if let metadata = now.metadata(since: last) {
            self.logger.info("summary", metadata: metadata)
        }
        last = now
    }
}
