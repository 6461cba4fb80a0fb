// A year of a server: requests by the hour, people who are to be forgotten, restarts each week,
// other keys, a clock that is wrong now and then. Each week everything that is kept is compared
// with an oracle, and at the end the sizes with those of the year's middle.
internal import Foundation
internal import Operations
internal import SQLiteSink
internal import TestSupport
internal import TrackingJournal
internal import TrackingRules
internal import W3CTrace

/// Lives a year on real files, by a clock of its own.
actor Year {
    let plan: YearPlan
    let clock = YearClock()
    let dice: Dice
    private let events: YearEvents
    private let directory: TemporaryDirectory
    private let onMeasure: @Sendable (YearMeasure) -> Void
    var book = YearBook()
    private var process: YearProcess?
    private var starts = 0
    private var keys: [String] = []
    /// How long the present process took to start.
    private var startDuration = Duration.zero
    /// What the present process has to have put into the quarantine.
    private var keptCount = 0
    /// The newest day on which the time of day was set far back.
    private var dayOfSetback = Int64.min
    private var measures: [YearMeasure] = []

    /// - Parameter onMeasure: called at the end of each process.
    init(_ plan: YearPlan, onMeasure: @escaping @Sendable (YearMeasure) -> Void = { _ in }) throws {
        self.plan = plan
        let dice = Dice(seed: plan.seed)
        self.dice = dice
        self.events = YearEvents(plan: plan, dice: dice)
        self.directory = try TemporaryDirectory()
        self.onMeasure = onMeasure
    }

    var path: String { self.directory.path }

    /// Lives it.
    ///
    /// - Throws: `Violation` at the first one.
    func run() async throws {
        do {
            try await self.live()
        } catch {
            await self.process?.close(isCut: true)
            throw error
        }
        try YearMeasure.checkGrowth(self.measures, of: self.plan.days)
    }

    private func live() async throws {
        for day in 0..<self.plan.days {
            if day % self.plan.restartDays == 0 { try await self.restart(on: day) }
            // Not soon after a start, where it may be wrong as well: two mistakes that are hours
            // apart look like one that lasts.
            let wrong =
                self.dice.chance(self.plan.wrongClock)
                ? self.dice.number(4...YearPlan.requestsPerDay - 3) : nil
            for part in 0..<YearPlan.requestsPerDay {
                self.move(to: day, part)
                if part == wrong { self.setWrong() }
                try await self.send(day * YearPlan.requestsPerDay + part)
                if part % YearPlan.requestsPerPut == 0 {
                    try await self.put(day * YearPlan.requestsPerDay + part)
                }
                // Wrong for one request: a clock that stays wrong for an hour is believed.
                self.clock.set(error: 0)
            }
            if day % 2 == 1 { try await self.forget() }
            if (day + 1) % self.plan.restartDays == 0 { try await self.check(day) }
        }
        await self.end()
    }

    private func move(to day: Int, _ part: Int) {
        let hour = 24 / YearPlan.requestsPerDay * part
        self.clock.move(to: Int64(day) * YearClock.day + Int64(hour) * YearClock.hour)
    }

    private func setWrong() {
        let error = self.dice.pick(YearClock.errors)
        self.clock.set(error: error)
        if error < -YearClock.day { self.dayOfSetback = self.clock.trueDay }
    }

    // MARK: Processes

    private func restart(on day: Int) async throws {
        await self.end()
        self.move(to: day, 0)
        if self.starts % YearPlan.startsPerKey == 0 { try self.changeKey() }
        // Not while hits.db may have rows of a clock that was far behind: another start with that
        // clock would look like one that is right.
        if self.starts > 0, self.isSettled, self.dice.chance(YearPlan.wrongStart) {
            self.setWrong()
        }
        let start = ContinuousClock.now
        self.process = try await YearProcess(
            in: self.path, self.plan, self.clock, isFedAgain: self.dice.chance(0.5))
        self.startDuration = start.duration(to: .now)
        self.keptCount = 0
        self.starts += 1
    }

    private func end() async {
        await self.process?.close()
        self.process = nil
    }

    /// A new key of subjects, before the former ones.
    private func changeKey() throws {
        let bytes = (0..<32).map { _ in UInt8(self.dice.number(0...255)) }
        self.keys.insert(Data(bytes).base64EncodedString(), at: 0)
        try self.keys.joined(separator: "\n").write(
            toFile: self.plan.privacy(self.path).keyFile, atomically: true, encoding: .utf8)
    }

    private func running() throws -> YearProcess {
        guard let process = self.process else { throw Violation("no process runs") }
        return process
    }

    // MARK: What happens in it

    private func send(_ number: Int) async throws {
        let process = try self.running()
        let request = try self.events.request(number)
        let time = self.clock.wallTime
        let admitted = request.bytes.withUnsafeBytes { buffer in
            process.admission.admit(
                process.admission.read(buffer, shape: .stream), bytes: buffer.count,
                tenant: request.tenant, receiveTime: time, keeps: .recoverable)
        }
        var generator = self.dice
        admitted.trace = TraceContext.random(using: &generator)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            process.journal.append([admitted], for: Receiver { _ in continuation.resume() })
        }
        try self.check(admitted, of: request)
        process.quarantine.keep([admitted], of: request.tenant)
        self.keptCount += self.book.note(request, admitted.tally, at: time)
        let kept = self.keptCount
        try await Self.wait(for: "the sinks do not take request \(number)") { process.isDelivered }
        try await Self.wait(for: "the quarantine has not \(kept) events after request \(number)") {
            process.hasKept(kept)
        }
    }

    /// Nothing but the facts that are sent again depends on what the server remembers.
    private func check(_ admitted: AdmittedRequest, of request: YearEvents.Request) throws {
        let tally = admitted.tally
        var (fresh, refused, denied) = (0, 0, 0)
        for (meaning, _) in request.events {
            switch meaning {
            case .fresh: fresh += 1
            case .refused, .secret: refused += 1
            case .denied: denied += 1
            case .again: break
            }
        }
        guard tally.retryLater == 0, tally.accepted >= fresh,
            tally.rejected + tally.suppressed == refused + denied
        else {
            throw Violation(
                "of \(fresh) facts, \(refused) mistakes and \(denied) without consent came \(tally)"
            )
        }
    }

    /// Puts totals of the request's tenant, of whom there are few: each has room.
    private func put(_ request: Int) async throws {
        let totals = self.events.totals(request)
        let unstored = try await self.running().deliveries.put(
            totals, of: YearEvents.tenant(of: request), now: self.clock.wallTime)
        if !unstored.isEmpty { throw Violation("there is no room for the totals \(totals)") }
        // With a clock that is far behind they are stored under the last time that was right.
        self.book.put(totals, on: max(self.clock.wallDay, self.clock.trueDay))
    }

    private func forget() async throws {
        let tenant = self.dice.pick(YearEvents.tenants)
        let subject = YearEvents.subject(self.dice.number(0...YearEvents.subjectCount - 1))
        let receipt = try await self.running().eraser.forget(subject, of: tenant)
        if receipt.hasFailed { throw Violation("a subject is not forgotten: \(receipt)") }
        self.book.forget(subject, of: tenant)
    }

    /// Waits until something has happened that other threads do.
    private static func wait(
        for what: String, _ isTrue: @Sendable () -> Bool
    ) async throws {
        // Beside hundreds of tests it looks once in many seconds.
        let deadline = ContinuousClock.now + .seconds(300)
        while !isTrue() {
            if ContinuousClock.now > deadline { throw Violation("after 300 s, \(what)") }
            await Task.yield()
        }
    }

    // MARK: What has to be true

    /// Whether all is deleted that a clock far behind has left: its rows of hits.db go with the
    /// first partition of another day.
    private var isSettled: Bool { self.clock.trueDay - 2 > self.dayOfSetback }

    private func check(_ day: Int) async throws {
        let process = try self.running()
        let ledger = await process.journal.ledger()
        try YearCheck(
            plan: self.plan, book: self.book, directory: self.path, today: self.clock.trueDay,
            isSettled: self.isSettled
        ).check(ledger, process.keys)
        let measure = try YearMeasure(
            self.path, day: day, start: self.startDuration, isAlone: self.plan.isAlone)
        self.measures.append(measure)
        self.onMeasure(measure)
        try self.checkBounds(measure)
        self.book.drop(before: self.clock.trueDay - Int64(2 * self.plan.sqlite.retainDays))
    }

    /// The rows of counts: those of each request while they are by the hour, and later those of
    /// each tenant's delivery, which is in use for a day. Some came by a wrong clock, and stay
    /// apart.
    private var maxCounts: Int {
        let requests = (YearPlan.hourlyDays + 3) * YearPlan.requestsPerDay
        return YearEvents.countedGroups * (requests + self.book.funnels.count + 100)
    }

    /// The bounds that docs/operations.md gives.
    private func checkBounds(_ measure: YearMeasure) throws {
        let journal = self.plan.journal
        let letters = measure.rows[YearMeasure.letters] ?? 0
        if letters > self.plan.maxDeadLetters {
            throw Violation("\(letters) dead letters, and the limit is \(self.plan.maxDeadLetters)")
        }
        let segments = measure.bytes[YearMeasure.segments] ?? 0
        // Those prepared, the one in use, and one that is not full.
        let bound = journal.maxBytes + (journal.preparedSegments + 2) * journal.segmentBytes
        if segments > bound {
            throw Violation("the journal's segments have \(segments) bytes, the bound is \(bound)")
        }
        let counts = measure.rows[YearMeasure.counts] ?? 0
        if counts > self.maxCounts {
            throw Violation("hits.db has \(counts) counts, and the bound is \(self.maxCounts)")
        }
    }
}
