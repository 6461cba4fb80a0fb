// Makes sinks; the only file that knows each backend's type.
internal import CampaignSink
internal import ConfigurationKeys
internal import Delivery
internal import FileSinks
internal import GRPCSink
internal import KafkaSink
package import Logging
internal import NATSSink
internal import PostgreSQLSink
internal import SQLiteSink
package import ServerConfiguration
package import SinkKit
internal import TrackingJournal
internal import TrackingRules
internal import WebhookSink

#if Kafka
#endif
#if NATS
#endif

#if PostgreSQL
#endif

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
        let configuration = listed.configuration(in: self.whole)
        let path = "\(self.directory)/\(listed.fileName)"
        switch listed.kind {
        case .sqlite:
            return try self.openSQLite(path + ".db", configuration)
        case .jsonl:
            let sink = try JSONLinesSink(
                directory: path, configuration.jsonLines, logger: self.logger)
            return OpenedSink(sink, usage: DiskUsage(of: [path]))
        case .stdout: return OpenedSink(try StandardOutputSink())
        case .discard: return OpenedSink(DiscardSink())
        case .nats:
            #if NATS
            return OpenedSink(NATSSink(configuration.nats))
            #else
            throw Self.absent(listed)
            #endif
        case .kafka:
            #if Kafka
            let sink = try KafkaSink(configuration.kafka)
            return OpenedSink(sink, brokers: { sink.brokers })
            #else
            throw Self.absent(listed)
            #endif
        case .campaign: return OpenedSink(CampaignSink(configuration.campaign))
        case .webhook: return OpenedSink(try WebhookSink(configuration.webhook))
        case .postgresql:
            #if PostgreSQL
            let sink = try PostgreSQLSink(configuration.postgresql, logger: self.logger)
            return OpenedSink(sink, database: "postgresql")
            #else
            throw Self.absent(listed)
            #endif
        case .grpc: return OpenedSink(try GRPCSink(configuration.grpc, name: listed.name))
        }
    }

    private func openSQLite(
        _ path: String, _ configuration: ServerConfiguration
    ) throws -> OpenedSink {
        OpenedSink(
            try SQLiteSink(path: path, configuration.sqlite, logger: self.logger),
            database: "sqlite", usage: DiskUsage(of: [path, path + "-wal"]),
            stored: { journal, since in
                let hits = try StoredHits(path: path, journal: journal)
                return ({ try await hits.page(since: since, after: $0) }, hits.newestGroup)
            })
    }

    /// The error of a sink whose trait this build does not have.
    private static func absent(_ listed: ListedSink) -> ConfigurationError {
        ConfigurationError([
            "the sink \(listed.name) is of the type \(listed.kind), but "
                + (listed.kind.absence ?? "this program was built without it")
        ])
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
