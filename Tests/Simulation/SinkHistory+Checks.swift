// What has to be true of one sink at the end of a history.

extension SinkHistory {
    /// Checks what a sink has against what the first one has, which gets every group: a hit that is
    /// missing lies in a gap that was told, and a gap counts what lies in it.
    ///
    /// - Parameters:
    ///   - sequences: each hit's group.
    ///   - owed: the acknowledged hits.
    ///   - kept: the reasons of the sink's dead letters.
    /// - Throws: `Violation`.
    func check(
        _ gaps: [MissedGroups], _ sequences: [HitID: Int64], owed: [HitID],
        kept: [HitID: [String]]
    ) throws {
        try self.check(gaps, sequences)
        try self.checkLetters(kept)
        guard let begin else { return }
        for hit in owed where !self.has(hit, kept) {
            guard let sequence = sequences[hit], sequence > begin.high else { continue }
            if self.required.contains(where: { $0.holds(sequence) }) {
                throw Violation(
                    "\(self.name) lacks \(hit) of group \(sequence), which went while it was "
                        + "required")
            }
            if !gaps.contains(where: { $0.sequences.contains(sequence) }) {
                throw Violation(
                    "\(self.name) lacks \(hit) of group \(sequence), and was not told: "
                        + "\(gaps.map(\.sequences))")
            }
        }
        guard begin.isLate else { return }
        let early = self.remote.forwarded.keys.filter { (sequences[$0] ?? .max) <= begin.low }
        if let hit = early.min() {
            throw Violation("\(self.name) begins after group \(begin.low), and was given \(hit)")
        }
    }

    /// Whether a hit is where it has to be: in the sink, a dead letter, or delivered by a replay of
    /// the dead letters, to whichever sink.
    func has(_ hit: HitID, _ kept: [HitID: [String]]) -> Bool {
        self.remote.hits[hit] != nil || kept[hit] != nil || self.letters.delivered.contains(hit)
    }

    private func check(_ gaps: [MissedGroups], _ sequences: [HitID: Int64]) throws {
        if self.isSteady, let gap = gaps.first {
            throw Violation("\(self.name) is required, and has missed \(gap.sequences)")
        }
        for gap in gaps {
            let hits = sequences.values.count { gap.sequences.contains($0) }
            if let told = gap.hits, told != hits {
                throw Violation(
                    "\(self.name) is told that \(gap.sequences) have \(told) hits, and not \(hits)")
            }
            if let begin, gap.sequences.lowerBound <= begin.low {
                throw Violation(
                    "\(self.name) begins after \(begin.low), and is told of \(gap.sequences)")
            }
        }
    }

    /// A hit comes once by the forwarder, and again only by replays. It is in the sink or a dead
    /// letter, and a letter once: its key is the same each time that its group is delivered,
    /// whichever groups were joined. A letter that a replay has delivered goes; one that was
    /// refused again stays, with the new reason.
    private func checkLetters(_ kept: [HitID: [String]]) throws {
        if let disorder = self.remote.disorder { throw Violation("\(self.name) \(disorder)") }
        if let double = self.remote.forwarded.first(where: { $0.value > 1 }) {
            throw Violation("\(self.name) has \(double.key) \(double.value) times")
        }
        if let double = kept.first(where: { $0.value.count > 1 }) {
            throw Violation("\(double.key) is kept as \(double.value.count) dead letters")
        }
        let both = kept.keys.first { self.remote.forwarded[$0] != nil }
        if let both, !self.remote.wasCleared {
            throw Violation("\(both) is in the sink, and a dead letter too")
        }
        if let back = kept.keys.first(where: { !self.letters.mayBeKept($0) }) {
            throw Violation("\(self.name) has a letter of \(back) that was delivered and deleted")
        }
        for (hit, reason) in self.letters.reasons where kept[hit] != [reason] {
            throw Violation(
                "\(self.name) keeps \(hit) as \(kept[hit] ?? []), and not as \"\(reason)\"")
        }
    }
}

/// A gap that a sink was told of.
struct MissedGroups {
    let sequences: ClosedRange<Int64>
    /// Nil if it is unknown.
    let hits: Int?
}
