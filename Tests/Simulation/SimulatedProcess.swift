// The part of the server that makes events durable and delivers them, as a process.
internal import CoreMetrics
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Logging
internal import TrackingJournal
internal import TrackingSinks

/// A journal, its forwarders and their dead letters.
final class SimulatedProcess: @unchecked Sendable {
    let journal: Journal
    private let letters: DeadLetters
    /// Of each sink: whether it is paused.
    let states: [SinkState]
    private var forwarding: [Task<Void, Never>] = []
    private var running: Int
    private var isClosed = false

    init(
        plan: HistoryPlan, machine: Machine, scheduler: Scheduler,
        sinks: [(journal: JournalSink, remote: RemoteSink)],
        logger: Logger, onFailure: @escaping @Sendable (JournalError) -> Void
    ) throws {
        self.journal = try Journal(
            directory: "/sim/data/journal", sinks: sinks.map(\.journal),
            configuration: plan.configuration,
            machine: machine, onFailure: onFailure)
        _ = try machine.files.directory("/sim/data")
        self.letters = try DeadLetters(
            path: "/sim/data/dead_letters.db",
            queue: machine.makeQueue("sightline.dead-letters"))
        self.states = sinks.map {
            SinkState($0.journal.name, isPaused: $0.remote.dice.chance(0.1))
        }
        self.running = sinks.count
        for (sink, state) in zip(sinks, self.states) {
            let forwarder = Forwarder(
                from: self.journal, to: SharedSink(sink.remote), state: state,
                deadLetters: self.letters, metrics: .none, logger: logger,
                clock: SimulatedClock(scheduler: scheduler))
            self.forwarding.append(
                Task(executorPreference: scheduler) {
                    // Fails when the process is killed.
                    try? await forwarder.run()
                    self.running -= 1
                })
        }
    }

    /// Groups that sinks have yet to take.
    var lag: [Int] { self.states.map { self.journal.lag(of: $0.name).groups } }

    /// How often each hit is a dead letter of a sink.
    func keptHits(of sink: String) throws -> [HitID: Int] {
        let database = try DatabaseQueue(path: "/sim/data/dead_letters.db")
        return try database.read { database in
            try Data.fetchAll(
                database,
                sql: "SELECT hit_id FROM dead_letters WHERE sink = ? AND hit_id IS NOT NULL",
                arguments: [sink]
            ).reduce(into: [:]) { $0[HitID([UInt8]($1)), default: 0] += 1 }
        }
    }

    /// Lets running work end on a dead disk.
    func tearDown(_ scheduler: Scheduler) {
        // A second close would wait on queues that the scheduler has forgotten, and keep the process.
        if self.isClosed { return }
        for task in self.forwarding { task.cancel() }
        Task(executorPreference: scheduler) {
            await self.journal.close()
            self.isClosed = true
        }
        while !self.isClosed || self.running > 0 {
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
