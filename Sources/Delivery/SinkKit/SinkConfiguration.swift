package import ConfigurationKeys

/// The configuration of a sink, with the rules of its keys. The rules hold for a server that has
/// such a sink; the keys of sinks that nobody uses may have any value that fits them.
package protocol SinkConfiguration: KeyedConfiguration {
    /// Why this program has no such sink, as one that was built without its library; nil if it has.
    static var absence: String? { get }

    /// How long a batch stays in the journal after the sink has it: for so long the backend may
    /// lose what it took.
    var retention: Duration { get }

    /// The bytes that its files in the data directory may grow to; nil if it has none, or if they
    /// have no limit.
    var maxDiskBytes: Int? { get }

    /// What two sinks of this type may not both have; nil if they may have everything.
    var exclusive: SinkExclusive? { get }

    /// Finds what the sink cannot use.
    ///
    /// - Parameter sink: what the rest of the configuration says of it.
    func check(
        _ problems: inout ConfigurationProblems<Self>, of sink: SinkInConfiguration
    )

    /// Finds what is wrong in files that can be read.
    func checkFiles(_ problems: inout ConfigurationProblems<Self>)
}

extension SinkConfiguration {
    /// Every build has it.
    package static var absence: String? { nil }

    /// Its backend loses nothing.
    package var retention: Duration { .zero }

    /// It has none.
    package var maxDiskBytes: Int? { nil }

    /// They may have everything.
    package var exclusive: SinkExclusive? { nil }

    /// Finds nothing.
    package func check(
        _ problems: inout ConfigurationProblems<Self>, of sink: SinkInConfiguration
    ) {}

    /// Finds nothing.
    package func checkFiles(_ problems: inout ConfigurationProblems<Self>) {}
}

/// What no two sinks of a type may both have, as a stream or a table.
package struct SinkExclusive: Sendable {
    /// What is compared.
    package let identity: [String]
    /// What to say of two sinks with one identity, after the words `sinks is "VALUE", but`.
    package let problem: String

    /// What a sink has for itself alone.
    package init(_ identity: [String], problem: String) {
        self.identity = identity
        self.problem = problem
    }
}

/// What the rest of the configuration says of a sink, as far as rules of its keys need it.
package struct SinkInConfiguration: Sendable {
    /// The sink's name.
    package let name: String
    /// How long the journal keeps a batch after every sink has it: it may be fed again for so long.
    package let journalRetention: Duration

    /// Puts it together.
    package init(name: String, journalRetention: Duration) {
        self.name = name
        self.journalRetention = journalRetention
    }
}
