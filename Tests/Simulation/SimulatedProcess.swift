// The part of the server that makes events durable and delivers them, as a process.
internal import CoreMetrics
internal import Delivery
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Logging
internal import Storage
internal import TrackingJournal

/// A journal, its forwarders and their dead letters.
final class SimulatedProcess: @unchecked Sendable {
    let journal: Journal
    let letters: DeadLetters
    let scheduler: Scheduler
    private let logger: Logger
    /// The sinks in use.
    var sinks: [RunningRemote] = []
    var isChanging = false
    var isReplaying = false
    var isForgetting = false
    /// The ledger, once it was read.
    var ledger: Ledger?
    /// The tasks that have not ended.
    private var running = 0
    /// Whether it has begun to end.
    private(set) var isEnding = false
    private var isClosed = false

    init(
        plan: HistoryPlan, machine: Machine, scheduler: Scheduler,
        sinks: [(journal: JournalSink, remote: RemoteSink)],
        logger: Logger, onFailure: @escaping @Sendable (JournalError) -> Void
    ) throws {
        self.scheduler = scheduler
        self.logger = logger
        self.journal = try Journal(
            directory: "/sim/data/journal", sinks: sinks.map(\.journal),
            configuration: plan.configuration,
            machine: machine, onFailure: onFailure)
        _ = try machine.files.directory("/sim/data")
        self.letters = try DeadLetters(
            path: "/sim/data/dead_letters.db",
            queue: machine.makeQueue("sightline.dead-letters"))
        self.sinks = sinks.map { RunningRemote($0.journal, $0.remote) }
        for sink in self.sinks { self.begin(sink) }
    }

    /// Starts a sink's forwarder.
    func begin(_ sink: RunningRemote) {
        if self.isEnding { return }
        let forwarder = Forwarder(
            from: self.journal, to: sink.sink, state: sink.state,
            deadLetters: self.letters, metrics: .none, logger: self.logger,
            clock: SimulatedClock(scheduler: self.scheduler))
        // Fails when the process is killed.
        sink.forwarding = self.run { try? await forwarder.run() }
    }

    /// Runs something until its end or the process's.
    @discardableResult
    func run(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        self.running += 1
        return Task(executorPreference: self.scheduler) {
            await work()
            self.running -= 1
        }
    }

    /// Whether anything but its forwarders is under way.
    var isBusy: Bool { self.isChanging || self.isReplaying || self.isForgetting }

    /// Groups that sinks have yet to take.
    var lag: [Int] { self.sinks.map { self.journal.lag(of: $0.name).groups } }

    /// The reasons of the dead letters of each hit that a sink has refused.
    func keptHits(of sink: String) throws -> [HitID: [String]] {
        let database = try DatabaseQueue(path: "/sim/data/dead_letters.db")
        return try database.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT hit_id, reason FROM dead_letters
                    WHERE sink = ? AND hit_id IS NOT NULL
                    """,
                arguments: [sink]
            ).reduce(into: [:]) { kept, row in
                let id: Data = row[0]
                kept[HitID([UInt8](id)), default: []].append(row[1])
            }
        }
    }

    /// Lets running work end on a dead disk.
    func tearDown(_ scheduler: Scheduler) {
        // A second close would wait on queues that the scheduler has forgotten, and keep the
        // process.
        if self.isClosed { return }
        self.isEnding = true
        for sink in self.sinks { sink.forwarding?.cancel() }
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
            deliveryDuration: Timer(label: "", dimensions: [], factory: factory),
            deliveryHits: Recorder(
                label: "", dimensions: [], aggregate: true, factory: factory))
    }
}

/// SQLite's own random numbers.
enum GRDBSQLiteRandomness {
    /// Makes SQLite draw its random numbers from the disk's seed again.
    static func reset() { sqlite3_randomness(0, nil) }
}
