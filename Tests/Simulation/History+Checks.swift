// What has to be true at the end of a history.
internal import TrackingJournal
internal import TrackingRules

extension History {
    func check(_ process: SimulatedProcess) throws {
        try self.checkLosses(try process.keptHits(of: self.sinks[0].name))
        for sink in self.sinks {
            try self.check(sink, kept: try process.keptHits(of: sink.name))
        }
        try self.checkLedger(process)
        let files = self.disk.node("/sim/data/journal")?.entries.keys.sorted() ?? []
        let segments = files.count { $0.hasPrefix("segment-") }
        if self.plan.mode == .disk, self.plan.configuration.retainSeconds == 0, segments > 7 {
            throw Violation("\(segments) segments are kept where nothing is left: \(files)")
        }
    }

    /// What it counts is durable; without a disk it is in memory only.
    private func checkLedger(_ process: SimulatedProcess) throws {
        guard self.plan.mode == .disk else { return }
        process.run { process.ledger = await process.journal.ledger() }
        while process.ledger == nil, self.scheduler.step() {}
        guard let ledger = process.ledger else { throw Violation("the ledger cannot be read") }
        try self.ledger.check(ledger, mayLack: self.report.media > 0)
    }

    /// The first sink has every acknowledged hit, or a loss is told that is large enough.
    private func checkLosses(_ kept: [HitID: [String]]) throws {
        let missing = self.obligations.owed.keys.filter { !self.sinks[0].has($0, kept) }.sorted()
        let told = self.losses.events
        if !missing.isEmpty, self.losses.isEmpty || told.map({ missing.count > $0 * 2 }) == true {
            throw Violation(
                "\(missing.count) acked hits are neither delivered nor told of as lost "
                    + "(\(told.map(String.init) ?? "?") events were): "
                    + missing.prefix(5).map(\.description).joined(separator: " "))
        }
        if self.report.media == 0, !self.losses.isEmpty {
            throw Violation("a loss of \(told ?? -1) events is told where the disk lost nothing")
        }
    }

    private func check(_ sink: SinkHistory, kept: [HitID: [String]]) throws {
        let hits = sink.remote.hits
        if let unknown = hits.keys.first(where: { self.obligations.sent[$0] == nil }) {
            throw Violation("\(sink.name) has \(unknown), which nobody has sent")
        }
        // Damage may take what was told, and without a disk a client resends what sinks have.
        guard self.report.media == 0, self.plan.mode == .disk else { return }
        try sink.check(
            self.losses.gaps(of: sink.name), self.sinks[0].remote.sequences,
            owed: self.obligations.owed.keys.sorted(), kept: kept)
        if self.lettersAreGone, let hit = kept.keys.min() {
            throw Violation("\(sink.name) refuses nothing, and \(hit) stays a dead letter")
        }
    }
}
