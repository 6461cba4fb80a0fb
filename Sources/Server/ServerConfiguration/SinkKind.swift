/// The sinks that a configuration may choose. The key `sink`, the help and the tests derive from
/// it.
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

    /// Whether it writes files in the data directory.
    package var hasFiles: Bool { self == .sqlite || self == .jsonl }

    /// The names, in the order of the documentation.
    package static var names: [String] { Self.allCases.map(\.rawValue) }
}
