// One replay of a history, and what came of it.
internal import SinkKit

/// A replay to a sink, from its first batch until it ends or its process does.
final class ReplayRun: @unchecked Sendable {
    /// What is delivered again.
    enum Source {
        /// The dead letters of a sink.
        case letters(SinkHistory)
        /// What the journal keeps that was received since a time, up to the target's cursor.
        case kept(since: Int64, through: Int64)
    }

    let number: Int
    let source: Source
    let target: SinkHistory
    /// How often each hit was stored or refused.
    private(set) var given: [HitID: Int] = [:]
    /// The first violation.
    private(set) var problem: String?
    private var batch: Int64 = 0
    /// What the newest batch came to.
    private var (taken, refused): ([HitID], [HitID]) = ([], [])
    /// What is certain of the batches before it.
    private var (delivered, refusedBefore) = (0, 0)

    init(number: Int, of source: Source, to target: SinkHistory) {
        self.number = number
        self.source = source
        self.target = target
    }

    /// Why the target refuses hits.
    var reason: String { "refused by replay \(self.number)" }

    /// A batch follows only once the one before it is settled.
    func begins(_ hits: HitBatch) {
        if hits.sequence > self.batch { self.settle() }
        self.batch = hits.sequence
    }

    func takes(_ hit: HitID) {
        self.note(hit)
        self.taken.append(hit)
        guard case .letters(let sink) = self.source else { return }
        if let wrong = sink.letters.isDelivered(hit) {
            self.fails("\(hit) of \(sink.name) \(wrong)")
        }
    }

    func refuses(_ hit: HitID) {
        self.note(hit)
        self.refused.append(hit)
        guard case .letters(let sink) = self.source else { return }
        sink.letters.isRefusedAgain(hit, nil)
    }

    private func note(_ hit: HitID) {
        self.given[hit, default: 0] += 1
        // A letter may come back meanwhile, by a group that its sink is given again.
        if case .kept = self.source, self.given[hit, default: 0] > 1 {
            self.fails("delivers \(hit) twice")
        }
    }

    private func settle() {
        self.delivered += self.taken.count
        self.refusedBefore += self.refused.count
        if case .letters(let sink) = self.source {
            for hit in self.taken { sink.letters.isDeleted(hit) }
            for hit in self.refused { sink.letters.isRefusedAgain(hit, self.reason) }
        }
        (self.taken, self.refused) = ([], [])
    }

    private func fails(_ text: String) {
        self.problem = self.problem ?? "replay \(self.number) to \(self.target.name) \(text)"
    }

    /// It has ended, and says what it did.
    ///
    /// - Parameter isWhole: whether it delivered everything. Otherwise the newest batch may be
    ///   settled or not, as what it says tells.
    func ends(delivered: Int, refused: Int, isWhole: Bool) {
        let isSettled = (delivered, refused) != (self.delivered, self.refusedBefore)
        if isWhole || isSettled { self.settle() }
        if (delivered, refused) != (self.delivered, self.refusedBefore) {
            self.fails(
                "says that it delivered \(delivered) and \(refused) were refused, where "
                    + "\(self.delivered) and \(self.refusedBefore) were")
        }
    }

    /// It was to deliver a hit, and has delivered everything.
    func mustHaveGiven(_ hit: HitID, of group: Int64) {
        if self.given[hit] == nil { self.fails("leaves out \(hit) of group \(group)") }
    }
}
