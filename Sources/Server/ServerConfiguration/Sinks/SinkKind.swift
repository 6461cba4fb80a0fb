// The table of sinks: the only file of the server that knows each backend's type.
internal import CampaignSink
internal import FileSinks
internal import Foundation
internal import GRPCSink
internal import KafkaSink
package import Logging
internal import NATSSink
internal import PostgreSQLSink
internal import SQLiteSink
package import SinkKit
internal import WebhookSink

/// The types of sinks that a configuration may choose. The key `sink`, the help, the documentation
/// of keys and the tests derive from it, and a row says all that the server has to know of one.
package enum SinkKind: String, CaseIterable, Sendable {
    /// Rows in `hits.db`.
    case sqlite
    /// Lines of JSON in files.
    case jsonl
    /// Lines of JSON on standard output.
    case stdout
    /// Nothing: hits are discarded.
    case discard
    /// A NATS JetStream stream; only in builds with the trait `NATS`.
    case nats
    /// Topics of Apache Kafka; only in builds with the trait `Kafka`.
    case kafka
    /// Adobe Campaign, by the vendor's own postback.
    case campaign
    /// Signed requests to a receiver.
    case webhook
    /// Rows in PostgreSQL; only in builds with the trait `PostgreSQL`.
    case postgresql
    /// A backend of one's own, over a stream of gRPC.
    case grpc

    /// The names, in the order of the documentation.
    package static var names: [String] { Self.allCases.map(\.rawValue) }

    /// Its row: the type of its keys, and how its backend is opened.
    var row: SinkRow {
        switch self {
        case .sqlite: SinkRow(SQLiteConfiguration.self, hasFiles: true, open: Self.openSQLite)
        case .jsonl:
            SinkRow(JSONLinesConfiguration.self, hasFiles: true) { keys, place in
                let sink = try JSONLinesSink(
                    directory: place.path, keys, logger: place.logger)
                return OpenedSink(sink, files: [place.path])
            }
        case .stdout: SinkRow { _ in OpenedSink(try StandardOutputSink()) }
        case .discard: SinkRow { _ in OpenedSink(DiscardSink()) }
        case .nats: SinkRow(NATSConfiguration.self, open: Self.openNATS)
        case .kafka: SinkRow(KafkaConfiguration.self, open: Self.openKafka)
        case .campaign:
            SinkRow(CampaignConfiguration.self, keys: CampaignServerList.keys) { keys, _ in
                OpenedSink(CampaignSink(keys))
            }
        case .webhook:
            SinkRow(WebhookConfiguration.self) { keys, place in
                OpenedSink(try WebhookSink(keys, logger: place.logger))
            }
        case .postgresql: SinkRow(PostgreSQLConfiguration.self, open: Self.openPostgreSQL)
        case .grpc:
            SinkRow(GRPCConfiguration.self) { keys, place in
                OpenedSink(try GRPCSink(keys, name: place.name))
            }
        }
    }

    /// Does the first piece of erasing a subject in what a sink that is no longer configured has
    /// left in the data directory; nil if no sink writes an entry of that name.
    package static func eraser(
        ofLeft name: String, in directory: String, logger: Logger
    ) -> (@Sendable (Subject) async -> ErasurePiece)? {
        let path = "\(directory)/\(name)"
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            return nil
        }
        if isDirectory.boolValue {
            guard Self.isSinkFile(name) else { return nil }
            return { await JSONLinesEraser(directory: path).erase($0) }
        }
        guard name.hasSuffix(".db"), Self.isSinkFile(String(name.dropLast(3))) else { return nil }
        return { subject in
            do {
                return try await SQLiteSink(path: path, logger: logger).erase(subject)
            } catch {
                return .last(.failed("\(name): \(error)"))
            }
        }
    }

    /// Whether a file of a sink may begin with this, as `ListedSink.fileName` makes it.
    private static func isSinkFile(_ name: String) -> Bool {
        name == "hits" || name.hasPrefix("hits-") && SinkItem.isName(String(name.dropFirst(5)))
    }

    @Sendable private static func openSQLite(
        _ keys: SQLiteConfiguration, _ place: SinkPlace
    ) throws -> OpenedSink {
        let path = place.path + ".db"
        return OpenedSink(
            try SQLiteSink(path: path, keys, logger: place.logger), database: "sqlite",
            files: [path, path + "-wal"],
            stored: { journal, since in
                let hits = try StoredHits(path: path, journal: journal)
                return ({ try await hits.page(since: since, after: $0) }, hits.newestGroup)
            })
    }

    // Those that need a library in C: a build without it has no way to open them.

    #if NATS
    @Sendable private static func openNATS(
        _ keys: NATSConfiguration, _ place: SinkPlace
    ) -> OpenedSink { OpenedSink(NATSSink(keys)) }
    #else
    private static let openNATS: SinkRow.Opening<NATSConfiguration>? = nil
    #endif

    #if Kafka
    @Sendable private static func openKafka(
        _ keys: KafkaConfiguration, _ place: SinkPlace
    ) throws -> OpenedSink {
        let sink = try KafkaSink(keys)
        return OpenedSink(sink, brokers: { sink.brokers })
    }
    #else
    private static let openKafka: SinkRow.Opening<KafkaConfiguration>? = nil
    #endif

    #if PostgreSQL
    @Sendable private static func openPostgreSQL(
        _ keys: PostgreSQLConfiguration, _ place: SinkPlace
    ) throws -> OpenedSink {
        OpenedSink(try PostgreSQLSink(keys, logger: place.logger), database: "postgresql")
    }
    #else
    private static let openPostgreSQL: SinkRow.Opening<PostgreSQLConfiguration>? = nil
    #endif
}
