internal import TrackingJournal
// Sinks that come and go while a process runs, and hits that are delivered again.

extension History {
    // MARK: Sinks

    /// An operator changes the list of sinks, or has one forgotten that is not on it.
    func changeSinks() {
        guard let process, !process.isEnding else { return }
        let former = self.sinks.filter(\.canBeForgotten)
        if !former.isEmpty, !process.isBusy, self.dice.chance(0.4) {
            return self.forget(self.dice.pick(former), in: process)
        }
        let others = self.sinks.dropFirst().filter { !$0.isForgetting }
        guard !others.isEmpty, !process.isChanging else { return }
        // A sink that goes and comes back while a replay delivers to it is rare otherwise.
        let target = others.first { $0 === self.replay?.target }
        let chosen = self.dice.chance(0.5) ? target : nil
        let first = chosen ?? self.dice.pick(others)
        let changed = others.filter { $0 === first || self.dice.chance(0.3) }
        let before = self.sinks.filter { $0.listing == .listed }
        for sink in changed { self.change(sink, in: process) }
        self.use(after: before, in: process)
    }

    private func change(_ sink: SinkHistory, in process: SimulatedProcess) {
        let isRequired = self.plan.mode == .off || self.dice.chance(0.4)
        let maxLagBytes = SinkPlan.maxLagBytes(self.dice)
        if sink.listing != .listed {
            sink.add(
                isRequired, self.dice.pick([.oldest, .newest]), maxLagBytes: maxLagBytes,
                to: process.journal)
        } else if self.dice.chance(0.6) {
            sink.remove(from: process.journal)
        } else {
            sink.set(isRequired, maxLagBytes: maxLagBytes, in: process.journal)
        }
    }

    /// Has a process use the sinks that are listed now.
    private func use(after before: [SinkHistory], in process: SimulatedProcess) {
        let listed = self.sinks.filter { $0.listing == .listed }
        let added = listed.filter { sink in !before.contains { $0 === sink } }
        let removed = before.filter { $0.listing != .listed }
        self.report.added += added.count
        self.report.removed += removed.count
        self.disk.onTrace?("the sinks change: \(listed.map(\.journalSink))")
        let number = self.processes
        process.use(listed.map { ($0.journalSink, self.remote(of: $0)) }) { [weak self] in
            guard let self, self.processes == number, !self.disk.isDead else { return }
            self.disk.onTrace?("the sinks have changed")
            self.attempt {
                for sink in removed { sink.isRemoved(from: process.journal) }
                for sink in listed {
                    let told = self.losses.gaps(of: sink.name)
                    if added.contains(where: { $0 === sink }) {
                        try sink.comes(to: process.journal, isDurable: true, told: told)
                    } else {
                        sink.changed(in: process.journal, isDurable: true, told: told)
                    }
                }
            }
        }
    }

    private func forget(_ sink: SinkHistory, in process: SimulatedProcess) {
        sink.willBeForgotten()
        self.disk.onTrace?("\(sink.name) is to be forgotten")
        let number = self.processes
        process.forget(sink.name) { [weak self] isKnown in
            guard let self, self.processes == number, !self.disk.isDead else { return }
            self.disk.onTrace?("\(sink.name) is forgotten: \(isKnown)")
            self.report.forgotten += isKnown ? 1 : 0
            self.losses.forget(sink.name)
            self.attempt { try sink.isForgotten(isKnown) }
        }
    }

    /// Adds the sinks that are not there, at the end of a history.
    func addRemoved() {
        let removed = self.sinks.filter { $0.listing != .listed }
        guard let process, !removed.isEmpty else { return }
        let before = self.sinks.filter { $0.listing == .listed }
        for sink in removed {
            sink.add(
                self.plan.mode == .off || self.dice.chance(0.4),
                self.dice.pick([.oldest, .newest]),
                maxLagBytes: SinkPlan.maxLagBytes(self.dice), to: process.journal)
        }
        self.use(after: before, in: process)
    }

    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            // Damage may take what was promised.
            guard self.report.media == 0 else { return }
            self.violation = self.violation ?? (error as? Violation ?? Violation("\(error)"))
        }
    }
}
