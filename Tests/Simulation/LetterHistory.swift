// What became of one sink's dead letters.

/// The dead letters of a sink, as far as its answers and the replays tell of them.
struct LetterHistory {
    /// The hits whose letters a replay has delivered, to whichever sink.
    private(set) var delivered: Set<HitID> = []
    /// The letters that a replay has certainly deleted.
    private var deleted: [HitID: Deletion] = [:]
    /// When the sink refused each hit that its forwarder gave it.
    private var refusals: [HitID: Refusals] = [:]
    /// The reason of each letter that was certainly refused again.
    private(set) var reasons: [HitID: String] = [:]
    private var events = 0
    /// Counts the sink's forwarders: each may be given again what the one before it was given.
    private var forwarders = 0

    private struct Deletion {
        let event: Int
        let forwarder: Int
    }

    private struct Refusals {
        let firstForwarder: Int
        var lastForwarder: Int
        var lastEvent: Int
    }

    mutating func newForwarder() { self.forwarders += 1 }

    /// The sink refuses a hit that its forwarder gives it.
    mutating func refuses(_ hit: HitID) {
        self.events += 1
        let first = self.refusals[hit]?.firstForwarder ?? self.forwarders
        self.refusals[hit] = Refusals(
            firstForwarder: first, lastForwarder: self.forwarders, lastEvent: self.events)
    }

    /// A replay has delivered a letter; whether it goes is not certain yet.
    ///
    /// - Returns: what is wrong with that.
    mutating func isDelivered(_ hit: HitID) -> String? {
        defer {
            self.delivered.insert(hit)
            self.reasons[hit] = nil
        }
        if self.refusals[hit] == nil { return "is a letter, and the sink never refused it" }
        return self.mayBeKept(hit) ? nil : "is delivered again after its letter was deleted"
    }

    /// A replay has deleted a letter for good.
    mutating func isDeleted(_ hit: HitID) {
        self.events += 1
        self.deleted[hit] = Deletion(event: self.events, forwarder: self.forwarders)
    }

    /// A replay has stored a letter's new reason for good; nil if it may have.
    mutating func isRefusedAgain(_ hit: HitID, _ reason: String?) { self.reasons[hit] = reason }

    /// Whether there may be a letter of a hit: it was not deleted, or its group was given to the
    /// sink again, which refused it again.
    func mayBeKept(_ hit: HitID) -> Bool {
        guard let deletion = self.deleted[hit] else { return true }
        guard let refusals = self.refusals[hit] else { return false }
        // Kept a little later than refused: by the second forwarder, the first has ended.
        let isAgain =
            refusals.firstForwarder < refusals.lastForwarder
            && refusals.lastForwarder == deletion.forwarder
        return refusals.lastEvent > deletion.event || isAgain
    }
}
