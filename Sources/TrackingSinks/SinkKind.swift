// Which sinks there are: the key `sink`, the help and the tests are made from it.

/// The kinds of sinks that a configuration may name.
package enum SinkKind: String, CaseIterable, Sendable {
    /// Rows in `hits.db`.
    case sqlite
    /// Lines of JSON in files.
    case jsonl
    /// Lines of JSON on standard output.
    case stdout
    /// Nothing is kept.
    case discard
    /// A stream of NATS JetStream; in a program that was built with the trait `NATS`.
    case nats

    /// Their names, in the order of the documentation.
    package static var names: [String] { Self.allCases.map(\.rawValue) }
}
