// The part of the configuration that each kind of sink has.
internal import CampaignSink
internal import ConfigurationKeys
internal import FileSinks
internal import GRPCSink
internal import KafkaSink
internal import NATSSink
internal import PostgreSQLSink
internal import SQLiteSink
internal import SinkKit
internal import WebhookSink

extension SinkKind {
    /// Its keys and their rules; nil for a kind that has no keys.
    var part: SinkPart? {
        switch self {
        case .sqlite: SinkPart(\.sqlite)
        case .jsonl: SinkPart(\.jsonLines)
        case .stdout, .discard: nil
        case .nats: SinkPart(\.nats)
        case .kafka: SinkPart(\.kafka)
        case .campaign: SinkPart(\.campaign, keys: CampaignServerList.keys)
        case .webhook: SinkPart(\.webhook)
        case .postgresql: SinkPart(\.postgresql)
        case .grpc: SinkPart(\.grpc)
        }
    }

    /// Why this program has no such sink; nil if it has.
    package var absence: String? { self.part?.absence }
}

/// The part of one kind of sink, whatever its type.
struct SinkPart: Sendable {
    /// What is found: a key's name, and what follows `KEY is "VALUE", but`.
    typealias Problem = (key: String, rule: String)

    let keys: [ServerConfiguration.Key]
    let absence: String?
    let retention: @Sendable (ServerConfiguration) -> Duration
    let exclusive: @Sendable (ServerConfiguration) -> SinkExclusive?
    /// What contradicts itself in the configuration as a sink sees it.
    let problems: @Sendable (ServerConfiguration, SinkInConfiguration) -> [Problem]
    /// What is wrong in the files that it names.
    let fileProblems: @Sendable (ServerConfiguration) -> [Problem]

    /// The part that a property holds.
    ///
    /// - Parameter keys: its keys, if the server's configuration reads one of them; nil: as the
    ///   part has them.
    init<Part: SinkConfiguration>(
        _ part: any ServerConfiguration.Key.Property<Part>, keys: [ServerConfiguration.Key]? = nil
    ) {
        self.keys = keys ?? ServerConfiguration.keys(of: part)
        self.absence = Part.absence
        self.retention = { $0[keyPath: part].retention }
        self.exclusive = { $0[keyPath: part].exclusive }
        self.problems = { whole, sink in
            var problems = ConfigurationProblems<Part>()
            whole[keyPath: part].check(&problems, of: sink)
            return problems.found
        }
        self.fileProblems = { whole in
            var problems = ConfigurationProblems<Part>()
            whole[keyPath: part].checkFiles(&problems)
            return problems.found
        }
    }
}
