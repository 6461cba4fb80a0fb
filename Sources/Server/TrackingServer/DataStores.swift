internal import Delivery
internal import Logging
internal import Operations
internal import ServerConfiguration
internal import SinkKit
internal import Storage
internal import TrackingJournal
internal import TrackingRules

/// The data directory's files beside the journal, and the sinks that the journal is delivered to:
/// the places where a subject is erased.
struct DataStores {
    let sinks: RunningSinks
    let quarantine: Quarantine?
    let deliveries: DeliveryTotalsFile
    let eraser: SubjectEraser
    /// Whose events are recorded without a subject, and delivered without one.
    let forgotten: ForgottenSubjects
    let keys: SubjectKeys

    /// Opens the files and the sinks' backends; nothing is delivered yet.
    ///
    /// - Parameters:
    ///   - version: the program's version, stored with events in quarantine.
    ///   - ownSinks: sinks of the embedding program.
    /// - Throws: `ConfigurationError`, `FileFormatError`, SQLite's error, or that of a sink that
    ///   cannot be opened.
    init(
        configuration: ServerConfiguration, version: String, journal: Journal,
        metrics: ServerMetrics, ownSinks: [any Sink], logger: Logger
    ) async throws {
        let keys = try SubjectKeys(configuration.privacy)
        self.keys = keys
        let directory = configuration.dataDirectory
        let forgotten = try await ForgottenFile(
            directory: directory, maxCount: configuration.privacy.maxForgotten, logger: logger)
        let deadLetters = try DeadLetters(
            path: directory + "/dead_letters.db", maxRows: configuration.maxDeadLetters,
            forgotten: forgotten.subjects, logger: logger)
        let sinks = try RunningSinks(
            configuration, journal, deadLetters, metrics, forgotten: forgotten.subjects,
            logger: logger, ownSinks: ownSinks)
        let quarantine = try Self.quarantine(
            configuration: configuration, version: version, forgotten: forgotten.subjects,
            logger: logger)
        self.deliveries = try DeliveryTotalsFile(
            directory: directory, configuration.deliveries, logger: logger)
        // One that is locked now is counted by its next put.
        try? await self.deliveries.countRows()
        self.sinks = sinks
        self.forgotten = forgotten.subjects
        self.quarantine = quarantine
        let places = ErasurePlaces(
            directory: directory, version: version, sinks: sinks, deadLetters: deadLetters,
            quarantine: quarantine?.file, forgotten: forgotten.subjects, logger: logger)
        self.eraser = SubjectEraser(forgotten, keys: keys, logger: logger) { places.all() }
    }

    private static func quarantine(
        configuration: ServerConfiguration, version: String, forgotten: ForgottenSubjects,
        logger: Logger
    ) throws -> Quarantine? {
        guard configuration.quarantine.isOn else { return nil }
        let file = try QuarantineFile(
            directory: configuration.dataDirectory, configuration.quarantine, version: version,
            forgotten: forgotten, logger: logger)
        return Quarantine(file, configuration.quarantine, logger: logger)
    }
}
