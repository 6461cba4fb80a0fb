// The part of the server that makes events durable and delivers them, as a process.
internal import CoreMetrics
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Logging
internal import TrackingJournal
internal import TrackingSinks

/// A journal, its forwarder and its dead letters.
final class SimulatedProcess: @unchecked Sendable {
    let journal: Journal
    private let letters: DeadLetters
    private var forwarding: Task<Void, Never>?
    private var isForwarding = true
    private var isClosed = false

    init(
        plan: HistoryPlan, machine: Machine, scheduler: Scheduler, sink: RemoteSink,
        logger: Logger, onFailure: @escaping @Sendable (JournalError) -> Void
    ) throws {
        self.journal = try Journal(
            directory: "/sim/data/journal", sinks: [JournalSink(sink.name)],
            configuration: plan.configuration,
            machine: machine, onFailure: onFailure)
        _ = try machine.files.directory("/sim/data")
        self.letters = try DeadLetters(
            path: "/sim/data/dead_letters.db",
            queue: machine.makeQueue("sightline.dead-letters"))
        let forwarder = Forwarder(
            from: self.journal, to: sink, deadLetters: self.letters, metrics: .none,
            logger: logger, clock: SimulatedClock(scheduler: scheduler))
        self.forwarding = Task(executorPreference: scheduler) {
            // Fails when the process is killed.
            try? await forwarder.run()
            self.isForwarding = false
        }
    }

    /// Whether the sink has everything.
    var isDrained: Bool { self.journal.lag(of: "remote").groups == 0 }

    /// How often each hit is a dead letter.
    func keptHits() throws -> [HitID: Int] {
        let database = try DatabaseQueue(path: "/sim/data/dead_letters.db")
        return try database.read { database in
            try Data.fetchAll(
                database, sql: "SELECT hit_id FROM dead_letters WHERE hit_id IS NOT NULL"
            ).reduce(into: [:]) { $0[HitID([UInt8]($1)), default: 0] += 1 }
        }
    }

    /// Lets running work end on a dead disk.
    func tearDown(_ scheduler: Scheduler) {
        // A second close would wait on queues that the scheduler has forgotten, and keep the process.
        if self.isClosed { return }
        self.forwarding?.cancel()
        Task(executorPreference: scheduler) {
            await self.journal.close()
            self.isClosed = true
        }
        while !self.isClosed || self.isForwarding {
            if !scheduler.step() { break }
        }
    }
}

extension SinkMetrics {
    /// Metrics that record nothing.
    static var none: SinkMetrics {
        let factory = NOOPMetricsHandler.instance
        return SinkMetrics(
            deliveredHits: Counter(label: "", factory: factory),
            retries: Counter(label: "", factory: factory),
            deadLetters: Counter(label: "", factory: factory),
            missedHits: Counter(label: "", factory: factory),
            deliveryDuration: Timer(label: "", dimensions: [], factory: factory))
    }
}

/// SQLite's own random numbers.
enum GRDBSQLiteRandomness {
    /// Makes SQLite draw its random numbers from the disk's seed again.
    static func reset() { sqlite3_randomness(0, nil) }
}
