// One sink of a history: its backend, and what the journal has told it.
internal import TrackingCore
internal import TrackingJournal
internal import TrackingSinks

/// What the dice say of a sink.
struct SinkPlan {
    let journalSink: JournalSink
    /// The number of processes that do not have it yet.
    let processesBefore: Int
    /// Whether it rejects some hits, and cannot read some groups.
    let isChoosy: Bool

    var name: String { self.journalSink.name }

    /// The first sink is required and there from the start: it gets every group.
    init(number: Int, mode: Journal.Mode, dice: Dice) {
        let isRequired = number == 1 || mode == .off || dice.chance(0.3)
        let start: JournalSink.Start = dice.chance(0.5) ? .oldest : .newest
        self.journalSink = JournalSink(
            number == 1 ? "remote" : "remote-\(number)",
            maxLagBytes: isRequired ? nil : dice.pick([1, 500, 2000, 20_000]),
            start: number == 1 ? .oldest : start)
        self.processesBefore = number == 1 || mode == .off ? 0 : dice.pick([0, 0, 1, 2])
        // Without a disk, the sink is what an ack promises.
        self.isChoosy = mode == .disk && dice.chance(0.3)
    }
}

/// A sink across the processes of a history.
final class SinkHistory {
    let plan: SinkPlan
    let remote = Remote()
    /// The newest group when the first process had it: what comes later is owed to it.
    private(set) var begin: Int64?

    init(_ plan: SinkPlan) { self.plan = plan }

    var name: String { self.plan.name }

    func began(after sequence: Int64) { self.begin = self.begin ?? sequence }

    /// Checks what a sink has against what the first one has, which gets every group: a hit that is
    /// missing lies in a gap that was told, and a gap counts what lies in it.
    ///
    /// - Parameters:
    ///   - sequences: each hit's group.
    ///   - owed: the acknowledged hits.
    ///   - kept: the sink's dead letters.
    /// - Throws: `Violation`.
    func check(
        _ gaps: [MissedGroups], _ sequences: [HitID: Int64], owed: [HitID], kept: [HitID: Int]
    ) throws {
        if self.plan.journalSink.isRequired, let gap = gaps.first {
            throw Violation("\(self.name) is required, and has missed \(gap.sequences)")
        }
        for gap in gaps {
            let hits = sequences.values.count { gap.sequences.contains($0) }
            if let told = gap.hits, told != hits {
                throw Violation(
                    "\(self.name) is told that \(gap.sequences) have \(told) hits, and not \(hits)")
            }
        }
        guard let begin else { return }
        for hit in owed where self.remote.hits[hit] == nil && kept[hit] == nil {
            guard let sequence = sequences[hit], sequence > begin else { continue }
            if !gaps.contains(where: { $0.sequences.contains(sequence) }) {
                throw Violation(
                    "\(self.name) lacks \(hit) of group \(sequence), and was not told: "
                        + "\(gaps.map(\.sequences))")
            }
        }
        guard self.plan.journalSink.start == .newest else { return }
        let early = self.remote.hits.keys.filter { (sequences[$0] ?? .max) <= begin }
        if let hit = early.min() {
            throw Violation("\(self.name) begins after group \(begin), and was given \(hit)")
        }
    }
}

/// A gap that a sink was told of.
struct MissedGroups {
    let sequences: ClosedRange<Int64>
    /// Nil if it is unknown.
    let hits: Int?
}
