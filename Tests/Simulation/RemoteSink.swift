// A sink whose backend outlives the process. It may be slow, unavailable, want no more, or answer
// too late.
internal import SinkKit
internal import TrackingRules

/// The process's side of the sink.
final class RemoteSink: Sink, @unchecked Sendable {
    let history: SinkHistory
    let dice: Dice
    private let clock: SimulatedClock
    private let isCalm: @Sendable () -> Bool
    /// The replay that is under way.
    private let replay: @Sendable () -> ReplayRun?
    private var isBusy = false
    private var isRemoved = false
    /// Whether it wants no more, until an operator resumes it.
    private(set) var isGone = false
    /// How often it said so to its forwarder.
    private(set) var goneCount = 0

    init(
        of history: SinkHistory, dice: Dice, clock: SimulatedClock,
        isCalm: @escaping @Sendable () -> Bool, replay: @escaping @Sendable () -> ReplayRun?
    ) {
        self.history = history
        self.dice = dice
        self.clock = clock
        self.isCalm = isCalm
        self.replay = replay
    }

    var name: String { self.history.name }

    /// Whether it rejects some hits, and cannot read some groups.
    private var isChoosy: Bool { self.history.plan.isChoosy }

    private var remote: Remote { self.history.remote }

    /// Another one each time: after a restart, groups are joined differently.
    var maxBatch: BatchLimit {
        BatchLimit(
            hits: self.dice.pick([0, 5, 20, 1000]), bytes: self.dice.pick([0, 500, 2000, 100_000]))
    }

    /// An operator resumes it.
    func resume() { self.isGone = false }

    /// It is out of use: neither its forwarder nor a replay may give it anything.
    func remove() { self.isRemoved = true }

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        // A replay is asked for by an operator, and not held by a pause.
        if self.isGone, !hits.isReplay {
            self.remote.disorder = "wants no more, is not resumed, and is given a batch"
        }
        if self.isRemoved {
            self.remote.disorder = "was removed, and is given a batch"
        }
        if self.history.newest !== self {
            self.remote.disorder = "was removed and added again, and the removed one is used"
        }
        if self.isBusy { self.remote.disorder = "is given two batches at once" }
        self.isBusy = true
        defer { self.isBusy = false }
        let replay = hits.isReplay ? self.replay() : nil
        replay?.begins(hits)
        let answer = await self.answer(hits, replay)
        self.remote.onTrace?(
            "\(self.name) is given \(hits.groups.map(\.sequence)) "
                + "\(replay.map { "of replay \($0.number)" } ?? ""): \(answer)")
        return answer
    }

    private func answer(_ hits: HitBatch, _ replay: ReplayRun?) async -> SinkAnswer {
        if self.isCalm() { return self.take(hits, replay) }
        if !self.remote.isUp || self.dice.chance(0.1) {
            return .unavailable(reason: "it is away")
        }
        if self.dice.chance(0.03) {
            if replay == nil {
                self.isGone = true
                self.goneCount += 1
            }
            return .suspended(reason: "it wants no more")
        }
        if self.dice.chance(0.3) {
            // Stopping does not undo what was sent.
            try? await self.clock.sleep(for: .milliseconds(self.dice.number(1...200)))
        }
        let delivery = self.take(hits, replay)
        // The batch was stored, but the answer is lost.
        return self.dice.chance(0.05) ? .unavailable(reason: "no answer") : delivery
    }

    private func take(_ hits: HitBatch, _ replay: ReplayRun?) -> SinkAnswer {
        do {
            if let replay { return try self.take(hits, of: replay) }
            try self.remote.note(hits)
            if self.isChoosy, hits.groups.contains(where: { $0.sequence % 7 == 3 }) {
                try hits.forEach { self.history.letters.refuses(HitID($1.id)) }
                return .unreadable(reason: "it cannot read a group")
            }
            let outcome = try self.remote.take(hits, isReplay: false, refuses: self.refuses)
            for hit in outcome.refused.values { self.history.letters.refuses(hit) }
            return SinkAnswer(rejected: outcome.refused.mapValues { _ in "it does not like it" })
        } catch {
            return .unreadable(reason: "\(error)")
        }
    }

    private func take(_ hits: HitBatch, of replay: ReplayRun) throws -> SinkAnswer {
        if self.isChoosy, !self.remote.isMended, self.dice.chance(0.1) {
            try hits.forEach { replay.refuses(HitID($1.id)) }
            return .unreadable(reason: replay.reason)
        }
        let outcome = try self.remote.take(hits, isReplay: true, refuses: self.refuses)
        for hit in outcome.taken { replay.takes(hit) }
        for hit in outcome.refused.values { replay.refuses(hit) }
        return SinkAnswer(rejected: outcome.refused.mapValues { _ in replay.reason })
    }

    private func refuses(_ hit: HitID) -> Bool {
        self.isChoosy && !self.remote.isMended && hit.bytes[0] & 7 == 0
    }
}
