// Opens the sinks of a server; how each type is opened stands in its row, in SinkKind.swift.
internal import Delivery
package import Logging
package import ServerConfiguration
package import SinkKit
internal import TrackingJournal
internal import TrackingRules

/// Opens the backends that a configuration lists.
package struct SinkFactory: Sendable {
    private let whole: ServerConfiguration
    private let logger: Logger?
    private let directory: String
    private let ownSinks: [any Sink]

    /// Makes sinks of a configuration.
    ///
    /// - Parameters:
    ///   - logger: warns if a backend cannot be opened yet.
    ///   - directory: where files go; nil: to the data directory.
    ///   - ownSinks: those that are no kind of this program's; listed by their names.
    package init(
        _ whole: ServerConfiguration, _ logger: Logger? = nil, directory: String? = nil,
        ownSinks: [any Sink] = []
    ) {
        Libcrypto.keepUntilExit()
        self.whole = whole
        self.logger = logger
        self.directory = directory ?? whole.dataDirectory
        self.ownSinks = ownSinks
    }

    /// Opens a sink's backend.
    ///
    /// - Throws: the error of a backend that cannot be opened.
    package func open(_ listed: ListedSink) throws -> OpenedSink {
        if let sink = self.ownSinks.first(where: { $0.name == listed.name }) {
            return OpenedSink(sink)
        }
        return try listed.open(in: self.whole, directory: self.directory, logger: self.logger)
    }

    /// Opens a sink of the running server, which masks the subjects that were forgotten.
    ///
    /// - Throws: the error of a backend that cannot be opened.
    func sink(
        _ listed: ListedSink, of journal: Journal, forgotten: ForgottenSubjects
    ) throws -> RunningSink {
        let opened = try self.open(listed)
        return RunningSink(
            listed: listed, opened: opened, sink: SerializedSink(opened.sink, forgotten: forgotten),
            state: SinkState(
                listed.name, isRequired: listed.journalSink.isRequired, isPaused: listed.isPaused,
                filter: listed.filter, untoldHits: { journal.missedHits(of: listed.name) }))
    }
}
