// One sink of the key `sinks`, or the one that the key `sink` names.
internal import ConfigurationKeys
package import SinkKit
package import TrackingJournal

/// A sink, and what the configuration says of it.
package struct ListedSink: Sendable, Equatable {
    /// What the journal knows of it. Its name is its cursor's, and that of its metrics and letters.
    package let journalSink: JournalSink
    /// Where its hits go.
    package let kind: SinkKind
    /// Which hits it gets; nil: all.
    package let filter: HitFilter?
    /// Whether its delivery waits for an operator.
    package let isPaused: Bool
    /// Values of keys of its kind that hold for this sink alone, by the keys' whole names, such as
    /// `jsonl.max_bytes`.
    package let settings: [String: String]

    /// A sink; a required one with the name of its kind by default.
    package init(
        _ kind: SinkKind, name: String? = nil, maxLagBytes: Int? = nil,
        start: JournalSink.Start = .oldest, filter: HitFilter? = nil, isPaused: Bool = false,
        settings: [String: String] = [:]
    ) {
        self.journalSink = JournalSink(
            name ?? kind.rawValue, maxLagBytes: maxLagBytes, start: start)
        self.kind = kind
        self.filter = filter
        self.isPaused = isPaused
        self.settings = settings
    }

    /// The sink's name.
    package var name: String { self.journalSink.name }

    /// The same sink, paused or not.
    package func paused(_ isPaused: Bool) -> ListedSink {
        ListedSink(
            self.kind, name: self.name, maxLagBytes: self.journalSink.maxLagBytes,
            start: self.journalSink.start, filter: self.filter, isPaused: isPaused,
            settings: self.settings)
    }

    /// What its files' names begin with: the only sink of a kind, which bears its name, has `hits`.
    package var fileName: String {
        self.name == self.kind.rawValue ? "hits" : "hits-\(self.name)"
    }

    /// The sink as the journal knows it: with a retention where its backend may lose what it took,
    /// as a stream may, or a standby that takes over.
    func journalSink(in whole: ServerConfiguration) -> JournalSink {
        var sink = self.journalSink
        sink.retention = self.kind.row.retention(self.configuration(in: whole))
        return sink
    }

    /// The server's configuration as this sink sees it.
    package func configuration(in whole: ServerConfiguration) -> ServerConfiguration {
        var own = whole
        for key in ServerConfiguration.keys {
            if let text = self.settings[key.name] { key.set(text, &own) }
        }
        return own
    }
}
