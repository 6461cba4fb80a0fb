// The parts of the server that keep anything, on files of their own, as one process.
internal import Delivery
internal import Logging
internal import Operations
internal import Pacing
internal import SQLiteSink
internal import SinkKit
internal import TrackingJournal
internal import TrackingRules

/// A journal with its ledger, the sink sqlite, dead letters, the quarantine, the forgotten list and
/// the totals of deliveries.
final class YearProcess: Sendable {
    static let sqlite = "sqlite"
    let journal: Journal
    let quarantine: Quarantine
    let deliveries: DeliveryTotalsFile
    let eraser: SubjectEraser
    let keys: SubjectKeys
    let admission: Admission
    private let forwarding: [Task<Void, Never>]
    private let writing: Task<Void, Never>

    /// Opens everything, and begins to deliver.
    ///
    /// - Parameter isFedAgain: whether the sink sqlite gets all that the journal keeps, as after a
    ///   kill that came before a checkpoint.
    init(
        in directory: String, _ plan: YearPlan, _ clock: YearClock, isFedAgain: Bool
    ) async throws {
        let logger = Logger(label: "year") { _ in SwiftLogNoOpLogHandler() }
        let journal = try Journal(
            directory: directory + "/journal",
            sinks: [JournalSink(Self.sqlite), JournalSink(PickySink.name)],
            configuration: plan.journal, machine: clock.machine, onFailure: { _ in })
        let file = try await ForgottenFile(
            directory: directory, maxCount: plan.privacy(directory).maxForgotten, logger: nil)
        let forgotten = file.subjects
        let keys = try SubjectKeys(plan.privacy(directory))
        let letters = try DeadLetters(
            path: directory + "/dead_letters.db", maxRows: plan.maxDeadLetters,
            forgotten: forgotten)
        let hits = SerializedSink(
            try SQLiteSink(
                path: directory + "/hits.db", plan.sqlite, today: { Int(clock.wallDay) },
                retention: clock.retention(.days)), forgotten: forgotten)
        let refused = try QuarantineFile(
            directory: directory, plan.quarantine, version: "year", forgotten: forgotten,
            retention: clock.retention(.microseconds), logger: nil)
        let quarantine = Quarantine(
            refused, plan.quarantine, logger: logger, wallTime: { clock.wallTime })
        self.deliveries = try DeliveryTotalsFile(
            directory: directory, plan.deliveries,
            retention: clock.retention(.microseconds), logger: nil)
        if isFedAgain { journal.rewind(sink: Self.sqlite) }
        self.journal = journal
        self.quarantine = quarantine
        self.keys = keys
        self.admission = Admission(
            subjects: keys.admissionHash(plan.privacy(directory)), forgotten: forgotten)
        self.eraser = SubjectEraser(file, keys: keys, logger: logger) {
            [
                SubjectEraser.Place(Self.sqlite, hits.erase),
                SubjectEraser.Place("dead_letters.db", letters.erase),
                SubjectEraser.Place(QuarantineFile.name, refused.erase),
                .journal,
            ]
        }
        let picky = SerializedSink(PickySink(), forgotten: forgotten)
        self.forwarding = [hits, picky].map { sink -> Task<Void, Never> in
            let forwarder = Forwarder(
                from: journal, to: sink, deadLetters: letters, metrics: .none, logger: logger)
            // Fails where a group cannot be read: then the sink is behind for ever, which is seen.
            return Task { _ = try? await forwarder.run() }
        }
        // Never throws: what it cannot write now, it tries again.
        self.writing = Task { _ = try? await quarantine.run() }
    }

    /// Whether all that was acknowledged is in the sinks.
    var isDelivered: Bool {
        [Self.sqlite, PickySink.name].allSatisfy { self.journal.lag(of: $0).groups == 0 }
    }

    /// Whether all that was refused is in the quarantine.
    func hasKept(_ count: Int) -> Bool { self.quarantine.currentCounts.kept == count }

    /// Ends it as SIGTERM does.
    ///
    /// - Parameter isCut: whether the sinks' deliveries end where they are, as one may never end.
    func close(isCut: Bool = false) async {
        self.journal.finish()
        if isCut { for task in self.forwarding { task.cancel() } }
        for task in self.forwarding { await task.value }
        self.writing.cancel()
        await self.writing.value
        await self.journal.close()
    }
}

/// A sink that refuses the first hit of each batch.
private struct PickySink: Sink {
    static let name = "picky"

    var name: String { Self.name }

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        .rejected([0: "it refuses the first one"])
    }
}
