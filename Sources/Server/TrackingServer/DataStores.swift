internal import Delivery
internal import Logging
internal import Operations
internal import ServerConfiguration
internal import SinkKit
internal import Storage
internal import TrackingJournal

/// What the data directory holds beside the journal, and what reads the journal into it: the places
/// where a subject is erased.
struct DataStores {
    let sinks: RunningSinks
    let quarantine: Quarantine?
    let eraser: SubjectEraser
    let keys: SubjectKeys

    /// Opens the files and the sinks' backends; nothing is delivered yet.
    ///
    /// - Parameters:
    ///   - version: the program's, which events in quarantine keep.
    ///   - ownSinks: sinks that are no kind of this program's.
    /// - Throws: `ConfigurationError`, `FileFormatError`, SQLite's error, or that of a sink that
    ///   cannot be opened.
    init(
        _ configuration: ServerConfiguration, version: String, _ journal: Journal,
        _ metrics: ServerMetrics, ownSinks: [any Sink], _ logger: Logger
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
            configuration, version: version, forgotten.subjects, logger)
        self.sinks = sinks
        self.quarantine = quarantine
        self.eraser = SubjectEraser(forgotten, keys: keys, logger: logger) {
            Self.places(sinks, deadLetters, quarantine?.file)
        }
    }

    private static func quarantine(
        _ configuration: ServerConfiguration, version: String, _ forgotten: ForgottenSubjects,
        _ logger: Logger
    ) throws -> Quarantine? {
        guard configuration.quarantine.isOn else { return nil }
        let file = try QuarantineFile(
            directory: configuration.dataDirectory, configuration.quarantine, version: version,
            forgotten: forgotten, logger: logger)
        return Quarantine(file, configuration.quarantine, logger: logger)
    }

    /// Where a subject is erased. The sinks first: what they refuse meanwhile is a dead letter.
    private static func places(
        _ sinks: RunningSinks, _ deadLetters: DeadLetters, _ quarantine: QuarantineFile?
    ) -> [SubjectEraser.Place] {
        var places = sinks.sinks.map { SubjectEraser.Place($0.name, $0.sink.erase) }
        places.append(SubjectEraser.Place(file: "dead_letters.db", deadLetters.erase))
        if let quarantine {
            places.append(SubjectEraser.Place(file: QuarantineFile.name, quarantine.erase))
        }
        return places + [.journal]
    }
}
