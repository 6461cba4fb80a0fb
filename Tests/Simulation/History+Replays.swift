// Hits that are delivered again while a process runs.
internal import TrackingJournal

extension History {
    /// An operator has dead letters delivered again, or what the journal keeps; or mends why a sink
    /// rejects hits.
    func startReplay() {
        let refusers = self.sinks.filter(\.plan.isChoosy)
        if !refusers.isEmpty, self.dice.chance(0.2) {
            self.dice.pick(refusers).remote.isMended.toggle()
            return
        }
        guard let process, !process.isEnding, !process.isReplaying else { return }
        let target = self.dice.pick(process.sinks)
        if !refusers.isEmpty, self.dice.chance(0.7) {
            self.replayLetters(
                of: self.dice.pick(refusers), to: target,
                limit: self.dice.pick([1, 5, .max, .max]), in: process)
        } else {
            self.replayKept(to: target, in: process)
        }
    }

    private func replayLetters(
        of refuser: SinkHistory, to target: RunningRemote, limit: Int,
        in process: SimulatedProcess
    ) {
        guard let run = self.newRun(.letters(refuser), to: target) else { return }
        process.replayLetters(
            of: refuser.name, to: target, limit: limit,
            batchLetters: self.dice.pick([1, 3, 100])
        ) { [weak self] in self?.ended(run, $0) }
    }

    private func replayKept(to target: RunningRemote, in process: SimulatedProcess) {
        let before = Int64(self.dice.pick([0, 100_000, 3_000_000, 20_000_000]))
        let since = self.dice.chance(0.3) ? 0 : self.machine.wallTime() - before
        let end = process.journal.cursor(of: target.name)
        guard let run = self.newRun(.kept(since: since, through: end), to: target) else { return }
        process.replayHits(to: target, since: since, through: end) { [weak self] in
            self?.ended(run, $0)
        }
    }

    private func newRun(_ source: ReplayRun.Source, to target: RunningRemote) -> ReplayRun? {
        guard let sink = self.sinks.first(where: { $0.name == target.name }) else { return nil }
        self.report.replays += 1
        let run = ReplayRun(number: self.report.replays, of: source, to: sink)
        self.replay = run
        self.disk.onTrace?("replay \(run.number) begins")
        return run
    }

    private func ended(_ run: ReplayRun, _ outcome: SimulatedProcess.Replayed?) {
        // What a process does that was killed is seen by its sinks alone.
        guard self.replay === run, !self.disk.isDead, let process else { return }
        self.replay = nil
        self.disk.onTrace?("replay \(run.number) ends: \(outcome.map { "\($0)" } ?? "no disk")")
        self.report.interruptedReplays += outcome?.isWhole == true ? 0 : 1
        guard self.report.media == 0, self.plan.mode == .disk else { return }
        if let outcome {
            run.ends(
                delivered: outcome.delivered, refused: outcome.refused, isWhole: outcome.isWhole)
        }
        if outcome?.isWhole == true, case .kept(let since, let end) = run.source {
            self.checkWhole(run, since: since, through: end, process.journal)
        }
        if let problem = run.problem { self.violation = self.violation ?? Violation(problem) }
    }

    /// What is kept still, and was committed since then, was all delivered again.
    private func checkWhole(
        _ run: ReplayRun, since: Int64, through end: Int64, _ journal: Journal
    ) {
        let kept = journal.sequence(before: .min)
        for hit in self.obligations.owed.keys {
            let sequence =
                run.target.remote.sequences[hit] ?? self.sinks[0].remote.sequences[hit]
            guard let sequence, kept < sequence, sequence <= end,
                let time = self.obligations.sent[hit], time >= since
            else { continue }
            run.mustHaveGiven(hit, of: sequence)
        }
    }

    /// Every cause is mended: at the end of some histories, all dead letters go.
    func replayRest() throws {
        guard let process, self.plan.isReplayed, self.dice.chance(0.5) else { return }
        let refusers = self.sinks.filter(\.plan.isChoosy)
        for sink in refusers { sink.remote.isMended = true }
        for refuser in refusers {
            self.replayLetters(
                of: refuser, to: self.dice.pick(process.sinks), limit: .max, in: process)
            try self.drain()
        }
        self.lettersAreGone = !refusers.isEmpty
    }
}
