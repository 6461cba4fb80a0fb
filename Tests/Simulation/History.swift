// One history: clients, a server that is killed again and again, sinks that are sometimes
// unavailable or paused, come and go, and get hits again, and a failing disk. At its end, every
// promise is checked.
internal import TrackingJournal
internal import TrackingRules

/// A history that its seed determines.
final class History: @unchecked Sendable {
    let seed: UInt64
    let dice: Dice
    let disk: SimulatedDisk
    let scheduler: Scheduler
    let losses = LossLog()
    let plan: HistoryPlan
    let sinks: [SinkHistory]
    var clients: [SimulatedClient]
    var obligations = Obligations()
    var ledger = LedgerBook()
    var report = HistoryReport()
    var violation: Violation?
    /// The wall clock minus the simulated time; it jumps.
    var clockOffset: Int64 = 1_800_000_000_000_000
    private(set) var isCalm = false

    /// The server's process while it runs.
    private(set) var process: SimulatedProcess?
    private(set) var processes = 0
    /// The replay that is under way in it.
    var replay: ReplayRun?
    /// Whether every letter that can be delivered was.
    var lettersAreGone = false

    /// - Parameter onTrace: called with everything that happens.
    init(seed: UInt64, onTrace: ((String) -> Void)? = nil) throws {
        self.seed = seed
        let dice = Dice(seed: seed)
        self.dice = dice
        self.disk = SimulatedDisk(dice: dice)
        self.disk.onTrace = onTrace
        self.losses.onTrace = onTrace
        self.losses.isDeaf = { [disk] in disk.isDead }
        self.scheduler = Scheduler(dice: dice)
        self.plan = HistoryPlan(dice: dice)
        self.sinks = self.plan.sinks.map(SinkHistory.init)
        let maker = RequestMaker(dice: dice, messages: self.plan.messages)
        var number = 0
        self.clients = try (0..<self.plan.clients).map { _ in
            let requests = try (0..<dice.number(5...20)).map { _ in
                number += 1
                return try maker.request(number)
            }
            return SimulatedClient(requests, maxUnderWay: dice.number(1...5))
        }
        for sink in self.sinks { sink.remote.onTrace = onTrace }
    }

    /// Runs it.
    ///
    /// - Throws: `Violation`.
    func run() throws -> HistoryReport {
        SQLiteDisk.disk = self.disk
        Scheduler.current = self.scheduler
        GRDBSQLiteRandomness.reset()
        for _ in 0..<self.plan.processes {
            self.startProcess()
            self.runProcess()
            self.endProcess()
            if let violation { throw violation }
        }
        try self.settle()
        self.report.faults = self.disk.faults.count
        self.report.calls = self.disk.calls
        self.report.gaps = self.losses.gapCount
        return self.report
    }

    // MARK: A process

    private func startProcess() {
        self.processes += 1
        self.disk.restart()
        self.disk.faults.failure = self.isCalm ? 0 : self.plan.faults.failure
        self.disk.faults.interruption = self.isCalm ? 0 : self.plan.faults.interruption
        self.disk.faults.shortening = self.isCalm ? 0 : self.plan.faults.shortening
        if !self.isCalm, self.dice.chance(self.plan.earlyEnd) {
            self.disk.endSoon(maxCalls: 120)
        }
        let number = self.processes
        self.disk.onTrace?("process \(number) starts at \(self.scheduler.time)")
        for sink in self.sinks where sink.listing == .later {
            if self.isCalm || sink.plan.processesBefore < number { sink.isListed() }
        }
        let sinks = self.sinks.filter { $0.listing == .listed }
        do {
            let process = try SimulatedProcess(
                plan: self.plan, machine: self.machine, scheduler: self.scheduler,
                sinks: sinks.map { ($0.journalSink, self.remote(of: $0)) },
                logger: self.losses.logger,
                onFailure: { [weak self] error in
                    guard let self, self.processes == number else { return }
                    self.disk.onTrace?("the journal fails: \(error)")
                    self.disk.end()
                })
            self.process = process
            for sink in sinks {
                self.disk.onTrace?(
                    "\(sink.name) goes on after \(process.journal.cursor(of: sink.name))")
                // Where it begins is on disk before it does, unless that is with the oldest.
                try sink.comes(
                    to: process.journal, isDurable: sink.journalSink.start == .newest,
                    told: self.losses.gaps(of: sink.name))
            }
        } catch let violation as Violation {
            self.violation = violation
        } catch {
            self.disk.onTrace?("process \(number) does not start: \(error)")
            if self.isCalm {
                self.violation = Violation("a start on a sound disk fails: \(error)")
            }
        }
    }

    func remote(of sink: SinkHistory) -> RemoteSink {
        RemoteSink(
            of: sink, dice: self.dice, clock: SimulatedClock(scheduler: self.scheduler),
            isCalm: { self.isCalm }, replay: { self.replay })
    }

    var machine: Machine {
        Machine(
            files: SimulatedFileSystem(disk: self.disk),
            makeQueue: { [scheduler] _ in scheduler.makeQueue() },
            wallTime: { self.clockOffset + Int64(self.scheduler.time / .microseconds(1)) },
            now: { [scheduler] in scheduler.now }, random: { [dice] in dice.next() })
    }

    private func runProcess() {
        let steps = self.dice.number(20...600)
        for _ in 0..<steps where self.violation == nil {
            if self.disk.isDead { return }
            if self.dice.chance(0.15) {
                self.act()
            } else if !self.scheduler.step() {
                self.act()
            }
        }
    }

    private func endProcess() {
        // Damage is reported only for records that a checkpoint knows. After a kill, damage to the
        // last record looks like an interrupted write. A process that could not start, or had no
        // room, has made no checkpoint of what the previous one wrote.
        let isDamaging = !self.isCalm && self.dice.chance(self.plan.mediaFaults)
        if isDamaging {
            self.disk.faults.capacity = .max
            self.process?.tearDown(self.scheduler)
        }
        let isSound = isDamaging && self.process != nil && !self.disk.isDead
        self.disk.end()
        self.processes += 1
        for sink in self.sinks {
            sink.processEnded(self.process?.journal, isOff: self.plan.mode == .off)
        }
        self.report.gone += self.process?.sinks.reduce(0) { $0 + $1.remote.goneCount } ?? 0
        self.process?.tearDown(self.scheduler)
        self.process = nil
        if self.replay != nil { self.report.interruptedReplays += 1 }
        self.replay = nil
        self.scheduler.forgetQueues()
        self.report.crashes += 1
        self.disk.restart()
        if self.dice.chance(0.6) {
            self.disk.cutPower()
            self.report.powerCuts += 1
        }
        if isSound { self.damage() }
        for index in self.clients.indices { self.clients[index].reconnect() }
    }

    /// The disk returns something else than was written.
    private func damage() {
        guard let journal = self.disk.node("/sim/data/journal") else { return }
        let names = journal.entries.keys.filter { $0.hasPrefix("segment-") }.sorted()
        guard !names.isEmpty, let file = journal.entries[self.dice.pick(names)],
            file.bytes.count > SimulatedDisk.pageBytes, !file.isTorn,
            file.bytes[0] != 0, file.bytes[2048] != 0
        else { return }
        // Within the used part: most of a file is zeros.
        let end = (file.bytes.lastIndex { $0 != 0 } ?? 0) + 1
        let offset = self.dice.number(0...end - 1)
        self.report.media += 1
        self.disk.onTrace?("the disk damages byte \(offset) of \(end) of a segment")
        if self.dice.chance(0.5) {
            file.unreadable.insert(offset / SimulatedDisk.sectorBytes)
        } else {
            file.bytes[offset] ^= UInt8(1 << self.dice.number(0...7))
            if offset < file.durable.count { file.durable[offset] = file.bytes[offset] }
        }
    }

    // MARK: The end

    /// All faults stop: everything that was promised must come true.
    private func settle() throws {
        self.isCalm = true
        self.disk.faults.capacity = .max
        self.disk.faults.isOutOfDescriptors = false
        for sink in self.sinks { sink.remote.isUp = true }
        for sink in self.sinks where sink.listing == .removed && self.dice.chance(0.5) {
            sink.isListed()
        }
        for index in self.clients.indices { self.clients[index].reconnect() }
        self.startProcess()
        if let violation { throw violation }
        // What was paused goes on as well, and what was removed comes back; the others need not
        // wait for that.
        for _ in 0..<self.dice.number(0...100) where self.scheduler.step() {}
        for isLast in self.dice.chance(0.5) ? [true] : [false, true] {
            if isLast { self.addRemoved() }
            for sink in self.process?.sinks ?? [] { sink.resume() }
            try self.drain()
        }
        try self.replayRest()
        guard let process else { throw Violation("there is no process") }
        try self.check(process)
        self.endProcess()
        if let violation { throw violation }
    }

    func drain() throws {
        for _ in 0..<200_000 {
            if let violation { throw violation }
            if self.disk.isDead { throw Violation("the server ends on a sound disk") }
            for index in self.clients.indices {
                // One at a time: a journal that refuses at once would never let this end.
                if self.clients[index].canSend { self.send(index) }
            }
            if self.isDrained {
                self.rest()
                return
            }
            if !self.scheduler.step() { break }
        }
        let left = self.clients.count { !$0.isDone }
        throw Violation(
            "what is left does not drain: \(left) clients wait, the sinks lack "
                + "\(self.process?.lag ?? []) groups, and "
                + "\(self.process?.isBusy == true ? "an" : "no") operator waits")
    }

    private var isDrained: Bool {
        guard let process, self.clients.allSatisfy(\.isDone), !process.isBusy else { return false }
        return process.lag.allSatisfy { $0 == 0 }
    }

    /// Lets running work finish, including checkpoints.
    private func rest() {
        for _ in 0..<5000 where !self.scheduler.step() { return }
    }
}
