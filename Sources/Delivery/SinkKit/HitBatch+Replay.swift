extension HitBatch {
    private static let replayPrefix = "replay-"

    /// The id of a replay's journal, or a probe's: each has one that no other has.
    package static func replayJournal(_ id: String) -> String { Self.replayPrefix + id }

    /// Whether it is of a replay or a probe: its groups have no place in the server's journal, and
    /// no sink's place moves by it.
    package var isReplay: Bool { self.journal.hasPrefix(Self.replayPrefix) }
}
