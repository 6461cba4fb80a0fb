// What the dice say of a sink.
internal import TrackingJournal

/// A sink before its history begins.
struct SinkPlan {
    let journalSink: JournalSink
    /// The number of processes that do not have it yet.
    let processesBefore: Int
    /// Whether it rejects some hits, and cannot read some groups.
    let isChoosy: Bool

    var name: String { self.journalSink.name }

    /// The first sink is required and there from the start: it gets every group.
    init(number: Int, mode: Journal.Mode, isReplayed: Bool, dice: Dice) {
        let isRequired = number == 1 || mode == .off || dice.chance(0.3)
        let start: JournalSink.Start = dice.chance(0.5) ? .oldest : .newest
        self.journalSink = JournalSink(
            number == 1 ? "remote" : "remote-\(number)",
            maxLagBytes: isRequired ? nil : Self.maxLagBytes(dice),
            start: number == 1 ? .oldest : start)
        self.processesBefore = number == 1 || mode == .off ? 0 : dice.pick([0, 0, 1, 2])
        // Without a disk, the sink is what an ack promises.
        self.isChoosy = mode == .disk && dice.chance(isReplayed ? 0.6 : 0.3)
    }

    static func maxLagBytes(_ dice: Dice) -> Int { dice.pick([1, 500, 2000, 20_000]) }
}
