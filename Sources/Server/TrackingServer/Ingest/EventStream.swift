internal import Credentials
internal import GRPCCore
internal import HTTP2Edge
internal import ServerConfiguration
internal import TrackingJournal

/// Serves a StreamEvents call: a reader admits requests while earlier ones are committed, and a
/// writer acknowledges the durable ones. Both share an `AckQueue`.
///
/// `TrackingService` creates one for each call and awaits `serve(_:)`. It never acknowledges a
/// request before the journal has settled it, never lets the watermark pass an unsettled one, and
/// stops reading instead of growing beyond the limits of `StreamConfiguration` and of the memory
/// budget.
///
/// Thousands of streams may be open and silent, and their memory is mostly the frames of suspended
/// functions. So this is a class, which frames only reference. A function is inlined if its frame
/// would merely be one more, and is not if it is rarely needed or large.
final class EventStream: Sendable {
    typealias Writer = RPCWriter<StreamAnswer>

    let ingest: Ingest
    let configuration: StreamConfiguration
    /// The authenticated caller.
    let caller: Principal
    let allowance: Allowance
    /// The clock for the expiry of the caller's credentials.
    let clock: CredentialClock
    private let requests: StreamingServerRequest<CoalescedRequests>
    private let acks: AckQueue

    init(
        ingest: Ingest, configuration: StreamConfiguration, caller: Principal,
        allowance: Allowance, clock: CredentialClock = .system,
        requests: StreamingServerRequest<CoalescedRequests>
    ) {
        self.ingest = ingest
        self.configuration = configuration
        self.caller = caller
        self.allowance = allowance
        self.clock = clock
        self.requests = requests
        self.acks = AckQueue(
            maxRequests: configuration.maxRequests, maxBytes: configuration.maxBytes,
            memory: allowance.memory
        ) { [tenant = caller.tenant] in ingest.count($0, of: .streamEvents, tenant) }
    }

    /// Serves the call until the client half-closes and all is answered, or the server closes it.
    ///
    /// - Throws: the status that ends the stream.
    @inline(__always)
    func serve(_ writer: Writer) async throws {
        self.ingest.metrics.streamBegan()
        defer { self.ingest.metrics.streamEnded() }
        try await writer.write(.limits)
        if self.caller.expiry == nil {
            try await self.pump(writer)
        } else {
            try await self.pumpUntilExpiry(writer)
        }
        try self.acks.readingEnd.check(self.acks.closingCause)
    }

    /// Runs reader and writer concurrently; the stream ends with the writer.
    @inline(__always)
    private func pump(_ writer: Writer) async throws {
        try await withRPCCancellationHandler {
            // Unlike a task group's child, this one lives in its parent's memory. It is cancelled
            // and awaited at the end, once the reader can no longer be suspended.
            async let _: Void = self.read()
            defer { self.acks.abandon() }
            try await self.answer(writer)
        } onCancelRPC: {
            self.acks.beginClosing()
        }
    }

    /// Does the same for credentials that expire: announces the end a grace before they do, and
    /// stops reading then. Requests read before are still answered.
    @inline(never)
    private func pumpUntilExpiry(_ writer: Writer) async throws {
        async let _: Void = self.expire()
        try await self.pump(writer)
    }

    private func expire() async {
        guard let expiry = self.caller.expiry else { return }
        defer { self.acks.endReading(.closing) }
        let grace = Int64(self.configuration.closingGrace / .microseconds(1))
        do {
            try await self.clock.wait(expiry &- grace)
            self.acks.beginClosing(.credentials)
            try await self.clock.wait(expiry)
        } catch {
            // The stream ended first.
        }
    }

    /// Writes answers until the stream is finished.
    @inline(__always)
    private func answer(_ writer: Writer) async throws {
        while true {
            switch try await self.writeNextAnswer(writer) {
            case .continues: continue
            case .waits: await self.acks.waitForAction()
            case .graceBegins: return try await self.answerWithinGrace(writer)
            case .ends: return
            }
        }
    }

    /// What follows a written answer.
    private enum Progress { case continues, waits, graceBegins, ends }

    /// Writes the next pending answer, if there is one.
    @inline(never)
    private func writeNextAnswer(_ writer: Writer) async throws -> Progress {
        switch self.acks.nextAction() {
        case .answer(let answer):
            try await self.write(answer, writer)
            return .continues
        case .announceClosing(let durableSequence):
            try await writer.write(.closing(durableSequence: durableSequence))
            // Expiring credentials have a deadline of their own.
            return self.acks.closingCause == .server ? .graceBegins : .continues
        case .finish: return .ends
        case nil: return .waits
        }
    }

    /// Counts settled requests and writes their answer.
    @inline(__always)
    private func write(_ answer: RequestTracker.Answer, _ writer: Writer) async throws {
        let reportsAccepted = self.acks.reportsAccepted
        let isLong = answer.resultCount(includesAccepted: reportsAccepted) >= Ingest.bulkResults
        try await withTaskExecutorPreference(isLong ? self.ingest.bulkThreads : nil) {
            self.ingest.count(answer.requests, of: .streamEvents, self.caller.tenant)
            try await writer.write(.settled(answer, reportsAccepted: reportsAccepted))
        }
    }

    /// Continues to answer, and ends reading after the announced grace.
    @inline(never)
    private func answerWithinGrace(_ writer: Writer) async throws {
        async let _: Void = self.endReadingAfterGrace()
        try await self.answer(writer)
    }

    private func endReadingAfterGrace() async {
        // Cancelled if the stream ends earlier.
        try? await Task.sleep(for: self.configuration.closingGrace)
        self.acks.endReading(.closing)
    }

    /// Reads and admits requests, and submits them to the journal.
    @inline(never)
    private func read() async {
        let intake = self.intake()
        do {
            var runs = self.requests.messages.makeAsyncIterator()
            var next = try await runs.next()
            while let isBulk = next?.isBulk {
                // The stream stays on those threads while its runs are large: to change threads for
                // each would cost as much as to admit a small one.
                try await withTaskExecutorPreference(isBulk ? self.ingest.bulkThreads : nil) {
                    repeat {
                        guard try await self.take(&next, into: intake) else { return }
                        next = try await runs.next()
                    } while next?.isBulk == isBulk
                }
            }
            self.acks.endReading(.byClient)
        } catch {
            intake.submit()
            let (events, bytes) = intake.takeCounts()
            self.allowance.count(events: events, bytes: bytes)
            self.acks.endReading(.failed(error))
        }
    }

    @inline(never)
    private func intake() -> RequestIntake {
        RequestIntake(
            ingest: self.ingest, tenant: self.caller.tenant, acks: self.acks,
            memory: self.allowance.memory, metadata: self.requests.metadata)
    }

    /// Removes a run, admits its requests, each part of it in the stream's turn, and submits them;
    /// false once reading must end.
    @inline(never)
    private func take(
        _ next: inout CoalescedRequests?, into intake: RequestIntake
    ) async throws -> Bool {
        // Its bytes are not kept while the stream waits for the next one.
        guard let run = exchange(&next, with: nil) else { return false }
        let needsTurn = run.needsTurn
        if !needsTurn { await intake.waitForMemory() }
        var waiting = WaitingRun(run)
        while let next = waiting.next {
            // With a quota each request is submitted by itself.
            let goesOn =
                needsTurn
                ? try await intake.inTurn(self.allowance.isLimited ? next.count : waiting.bytes) {
                    try self.admit(&waiting, into: intake)
                } : try self.admit(&waiting, into: intake)
            guard goesOn else { return false }
            try await self.waitForRoom(intake)
        }
        if intake.needsRest { await intake.rest() }
        return true
    }

    /// The requests of a run that are not admitted yet, and their bytes.
    private struct WaitingRun {
        let framedBytes: Int
        private(set) var bytes: Int
        private(set) var next: RequestBuffer?
        /// Whether none was removed yet.
        private(set) var isWhole = true
        private var others: CoalescedRequests.Iterator

        init(_ run: CoalescedRequests) {
            self.framedBytes = run.framedBytes
            self.bytes = run.framedBytes
            self.others = run.makeIterator()
            self.next = self.others.next()
        }

        mutating func removeFirst() {
            self.isWhole = false
            self.bytes &-= self.next?.count ?? 0
            self.next = self.others.next()
        }
    }

    /// Admits requests until they are to be submitted, and submits them; false once reading must
    /// end.
    private func admit(_ waiting: inout WaitingRun, into intake: RequestIntake) throws -> Bool {
        // Until its first turn the run waits to be read, and counts as that.
        if waiting.isWhole { self.allowance.buffered?.take(waiting.framedBytes) }
        while let request = waiting.next {
            // Otherwise a client that never pauses could keep an expired stream open. Admitted
            // requests that were not submitted have left no trace: the client sends them again.
            if self.acks.isReadingOver { return false }
            waiting.removeFirst()
            try intake.admit(request)
            if intake.isDue || self.allowance.isLimited { break }
        }
        intake.submit()
        return true
    }

    /// Suspends until more requests may be admitted.
    private func waitForRoom(_ intake: RequestIntake) async throws {
        if !intake.hasRoom { await intake.waitForRoom() }
        // A journal that fills up slows clients down first: one request at a time.
        if self.ingest.journal.isNearlyFull { await self.acks.waitForIdle() }
        await intake.waitForMemory()
        let (events, bytes) = intake.takeCounts()
        try await self.allowance.waitForTurn(events: events, bytes: bytes)
    }
}

extension CoalescedRequests {
    /// Whether to admit them takes so long that it needs a turn.
    fileprivate var needsTurn: Bool { self.framedBytes >= AdmissionTurns.leastBytes }

    /// Whether to admit them takes so long that Swift's pool is not to do it.
    fileprivate var isBulk: Bool { self.framedBytes >= Ingest.bulkBytes }
}

extension AckQueue.ReadingEnd {
    /// - Throws: the status for this cause.
    @inline(never)
    fileprivate func check(_ cause: AckQueue.ClosingCause) throws {
        switch (self, cause) {
        case (.byClient, _): return
        case (.closing, .server): throw ServiceError.closing.status
        case (.closing, .credentials): throw ServiceError.credentialsExpired.status
        case (.failed(let error), _): throw error
        }
    }
}
