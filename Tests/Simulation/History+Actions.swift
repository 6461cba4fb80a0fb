// What clients, operators and the disk do while a process runs.
internal import Delivery
internal import TrackingJournal
internal import TrackingRules

extension History {
    /// Performs one random action.
    func act() {
        let client = self.dice.number(0...self.clients.count - 1)
        if self.clients[client].canSend, self.dice.chance(0.8) {
            self.send(client)
            return
        }
        if self.plan.isReplayed, self.dice.chance(0.15) { return self.startReplay() }
        if self.plan.hasSinksThatGo, self.dice.chance(0.15) { return self.changeSinks() }
        switch self.dice.number(0...11) {
        case 0: self.dice.pick(self.sinks).remote.isUp = self.dice.chance(self.plan.sinkUp)
        case 1:
            self.clockOffset += Int64(self.dice.number(-10_000_000...10_000_000))
            self.obligations.timeChanged(to: self.machine.wallTime())
        case 2 where self.plan.runsOutOfRoom:
            self.disk.faults.capacity =
                self.dice.chance(0.5) ? .max : self.disk.usedBytes + self.dice.number(0...6000)
        case 3 where self.plan.runsOutOfDescriptors:
            self.disk.faults.isOutOfDescriptors = self.dice.chance(0.5)
        case 10...11:
            guard let sinks = self.process?.sinks else { return }
            let sink = self.dice.pick(sinks)
            self.disk.onTrace?("\(sink.name) is \(sink.state.isPaused ? "resumed" : "paused")")
            if sink.state.isPaused { sink.resume() } else { sink.state.pause() }
            self.report.pauses += sink.state.isPaused ? 1 : 0
        case 4...6 where !self.isCalm && self.disk.callsUntilEnd == nil:
            self.disk.endSoon(maxCalls: 60)
        default: break
        }
    }

    func send(_ index: Int) {
        guard let process else { return }
        let request = self.clients[index].send()
        let admitted = RequestMaker.admitted(request, at: self.machine.wallTime())
        precondition(
            admitted.journalBytes <= self.plan.configuration.maxBytes,
            "the journal refuses a request of \(admitted.journalBytes) bytes for ever")
        self.obligations.sending(admitted, at: self.machine.wallTime())
        self.ledger.sending(admitted)
        let number = self.processes
        process.journal.append(
            [admitted],
            for: Receiver { [weak self] requests in
                guard let self, self.processes == number, !self.disk.isDead else { return }
                for request in requests { self.settled(request, of: index) }
            })
    }

    private func settled(_ request: AdmittedRequest, of client: Int) {
        let number = Int(request.sequence)
        if request.isToRetry {
            self.ledger.refused(request)
            self.clients[client].refused(number)
            return
        }
        self.clients[client].acked(number)
        self.obligations.acked(request)
        self.ledger.acked(request)
        self.disk.onTrace?("request \(number) is acked: \(request.tally)")
        self.report.acks += 1
        guard self.plan.mode == .off else { return }
        for hit in request.acceptedEvents.flatMap(Obligations.hits(of:)) {
            for sink in self.sinks where sink.remote.hits[hit] == nil {
                // The first one is there all the time, and knows every group.
                let sequence = self.sinks[0].remote.sequences[hit] ?? .max
                guard sink === self.sinks[0] || sink.isPromised(sequence) else { continue }
                self.violation = Violation(
                    "journal.mode off: request \(number) is acked, and \(sink.name) does not have "
                        + "\(hit)")
            }
        }
    }
}
