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
    package func open(_ listed: ListedSink) throws -> any Sink {
        if let sink = self.ownSinks.first(where: { $0.name == listed.name }) { return sink }
        let configuration = listed.configuration(in: self.whole)
        let path = self.path(of: listed)
        switch listed.kind {
        case .sqlite:
            return try SQLiteSink(
                path: path + ".db", configuration.sqlite, logger: self.logger)
        case .jsonl:
            return try JSONLinesSink(
                directory: path, configuration.jsonLines, logger: self.logger)
        case .stdout: return try StandardOutputSink()
        case .discard: return DiscardSink()
        case .nats:
            #if NATS
            return NATSSink(configuration.nats)
            #else
            throw Self.absent(listed)
            #endif
        case .kafka:
            #if Kafka
            return try KafkaSink(configuration.kafka)
            #else
            throw Self.absent(listed)
            #endif
        case .campaign: return CampaignSink(configuration.campaign)
        case .webhook: return try WebhookSink(configuration.webhook)
        case .postgresql:
            #if PostgreSQL
            return try PostgreSQLSink(configuration.postgresql, logger: self.logger)
            #else
            throw Self.absent(listed)
            #endif
        case .grpc: return try GRPCSink(configuration.grpc, name: listed.name)
        }
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
        let sink = SharedSink(try self.open(listed), forgotten: forgotten)
        return RunningSink(
            listed: listed, sink: sink,
            state: SinkState(
                listed.name, isRequired: listed.journalSink.isRequired, isPaused: listed.isPaused,
                filter: listed.filter, untoldHits: { journal.missedHits(of: listed.name) }),
            usage: self.usage(of: listed), stored: self.stored(by: listed, journal.identity))
    }

    private func path(of listed: ListedSink) -> String {
        "\(self.directory)/\(listed.fileName)"
    }

    /// The files of a sink; nil if it has none.
    private func usage(of listed: ListedSink) -> DiskUsage? {
        let path = self.path(of: listed)
        switch listed.kind {
        case .sqlite: return DiskUsage(of: [path + ".db", path + ".db-wal"])
        case .jsonl: return DiskUsage(of: [path])
        case .stdout, .discard, .nats, .kafka, .campaign, .webhook, .postgresql, .grpc: return nil
        }
    }

    /// Opens what a sink's backend keeps; nil if it cannot be read.
    private func stored(by listed: ListedSink, _ journal: String) -> RunningSink.Stored? {
        guard listed.kind == .sqlite else { return nil }
        let path = self.path(of: listed) + ".db"
        return { since in
            let hits = try StoredHits(path: path, journal: journal)
            return ({ try await hits.page(since: since, after: $0) }, hits.newestGroup)
        }
    }
}
