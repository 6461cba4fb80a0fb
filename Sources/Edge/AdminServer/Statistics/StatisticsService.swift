internal import AdminProtocol
internal import Delivery
internal import DeliveryDiagnosis
internal import Foundation
internal import ServiceLifecycle
internal import SinkKit
internal import Synchronization
internal import Telemetry
internal import TrackingJournal
internal import TrackingRules

/// Reads the metrics once a second, so that observers cost the event path nothing. Keeps the
/// history and serves the document for the page and `sightline top`.
struct StatisticsService: Service {
    private static let interval = Duration.seconds(1)

    private let version: String
    private let registry: MetricsRegistry
    private let notReadyReasons: @Sendable () -> [String]
    private let sinks: any SinkOperator
    private let rejections: RejectionLog
    private let ledger: @Sendable () async -> Ledger
    private let deliveries: any DeliveryTotalsStoring
    private let clock: any Clock<Duration>
    private let state: SharedState

    private final class SharedState: Sendable {
        let history: Mutex<StatisticsHistory>
        /// The newest reading's document, encoded on first use.
        let document = Mutex<Data?>(nil)
        let ledger = Mutex(LedgerReading())

        init(capacity: Int) { self.history = Mutex(StatisticsHistory(capacity: capacity)) }
    }

    /// Creates a service without readings.
    ///
    /// - Parameters:
    ///   - ledger: returns the ledger's present state.
    ///   - deliveries: tells what tenants have put of deliveries.
    ///   - clock: used to wait between readings; tests substitute it.
    init(
        version: String, historySeconds: Int, registry: MetricsRegistry,
        notReadyReasons: @escaping @Sendable () -> [String], sinks: any SinkOperator,
        rejections: RejectionLog,
        ledger: @escaping @Sendable () async -> Ledger,
        deliveries: any DeliveryTotalsStoring,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.version = version
        self.registry = registry
        self.notReadyReasons = notReadyReasons
        self.sinks = sinks
        self.rejections = rejections
        self.ledger = ledger
        self.deliveries = deliveries
        self.clock = clock
        self.state = SharedState(capacity: historySeconds)
        self.read(elapsed: .zero)
    }

    /// Takes readings until shutdown.
    func run() async throws {
        await self.readAll(self.clock)
    }

    private func readAll<C: Clock>(_ clock: C) async where C.Duration == Duration {
        var last = clock.now
        while (try? await cancelWhenGracefulShutdown({ try await clock.sleep(for: Self.interval) }))
            != nil
        {
            let now = clock.now
            self.read(elapsed: last.duration(to: now))
            last = now
        }
    }

    /// Reads the ledger if a reading is due. A caller never waits for another one's reading: a disk
    /// that hangs blocks the journal, and the page has to show that.
    private func readLedger() async {
        guard self.state.ledger.withLock({ $0.begin() }) else { return }
        let ledger = await self.ledger()
        let time = Date().timeIntervalSince1970
        let funnels = LedgerReading.funnels(of: ledger, time: time)
        let put = await PutDeliveries(of: ledger, funnels, in: self.deliveries)
        let figures = LedgerReading.Figures(ledger, funnels, put, time: time)
        self.state.ledger.withLock { $0.end(figures, rows: ledger.rowCount) }
    }

    /// Takes a reading.
    func read(elapsed: Duration) {
        let reading = StatisticsReading(self.registry.families())
        self.state.history.withLock { history in
            history.append(
                reading, time: Date().timeIntervalSince1970, elapsed: elapsed / .seconds(1))
        }
        self.state.ledger.withLock { $0.passSecond() }
        self.state.document.withLock { $0 = nil }
    }

    /// The newest reading with its history.
    var statistics: Statistics {
        let (last, columns) = self.state.history.withLock { ($0.last, $0.columns) }
        var statistics = Statistics()
        statistics.version = self.version
        statistics.notReady = self.notReadyReasons()
        statistics.isReady = statistics.notReady.isEmpty
        statistics.history = columns
        statistics.rejections = self.rejections.latest.map(Statistics.Rejection.init)
        let figures = self.state.ledger.withLock { $0.figures }
        statistics.deliveries = figures.deliveries
        statistics.quality = figures.quality
        statistics.ledger = figures.ledger
        statistics.formerSinks = self.sinks.formerSinks
        guard let last else { return statistics }
        statistics.time = last.time
        statistics.startTime = last.reading.startTime
        statistics.events = last.reading.events
        statistics.requests = last.reading.requests
        statistics.receivedBytes = last.reading.receivedBytes
        statistics.streams = last.reading.streams
        statistics.connections = last.reading.connections
        statistics.refusals = last.reading.refusals
        statistics.memory = last.reading.memory
        statistics.journal = last.reading.journal
        statistics.sinks = last.reading.sinks.map { sink in
            self.told(sink, columns.sinks.first { $0.name == sink.name })
        }
        return statistics
    }

    /// Adds to a sink what no metric has.
    private func told(
        _ sink: Statistics.Sink, _ history: Statistics.SinkHistory?
    ) -> Statistics.Sink {
        var sink = sink
        sink.hitsPerSecond = history?.hits.last ?? 0
        guard let state = self.sinks.states.first(where: { $0.name == sink.name }) else {
            return sink
        }
        sink.isRequired = state.isRequired
        sink.missedHits &+= state.untoldHits()
        if let error = state.lastError {
            sink.lastError = String(
                decoding: error.reason.utf8.prefix(Statistics.Sink.maxErrorBytes), as: UTF8.self)
            sink.lastErrorTime = Double(error.time) / 1e6
        }
        return sink
    }

    /// The statistics as JSON, encoded once per reading.
    ///
    /// - Throws: `EncodingError`, which finite numbers cannot cause.
    func document() async throws -> Data {
        if let document = self.state.document.withLock({ $0 }) { return document }
        await self.readLedger()
        return try self.state.document.withLock { document in
            if let document { return document }
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let made = try encoder.encode(self.statistics)
            document = made
            return made
        }
    }
}

extension Statistics.Rejection {
    fileprivate init(_ row: RejectionLog.Row) {
        self.init(
            field: row.field, rule: "\(row.code.name)".uppercased(), count: row.count,
            firstTime: Double(row.firstTime) / 1e6, lastTime: Double(row.lastTime) / 1e6)
    }
}

extension StatisticsService: CustomStringConvertible {
    /// A short name, since service groups log their services' descriptions.
    var description: String { "StatisticsService" }
}
