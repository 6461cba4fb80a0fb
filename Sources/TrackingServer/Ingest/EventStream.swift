// One StreamEvents call: a reader that admits requests while earlier ones are being committed, and
// a writer that tells the client what has become durable.
internal import Credentials
internal import GRPCCore
internal import HTTP2Edge
internal import ServerConfiguration
internal import TrackingJournal

/// A stream of requests and its acks.
///
/// Thousands may be open and silent, and what each keeps then is mostly the frames of the functions
/// that wait. So this is a class and not a value that lies in each of those frames; a function is
/// inlined where its frame would only be one more, and is not where it is rarely needed or holds
/// much.
final class EventStream: Sendable {
    typealias Writer = RPCWriter<StreamAnswer>

    let ingest: Ingest
    let configuration: StreamConfiguration
    /// Who sends it.
    let caller: Principal
    let allowance: Allowance
    /// What the caller's credentials expire by.
    let clock: CredentialClock
    private let requests: StreamingServerRequest<RequestRun>
    private let acks: AckQueue

    init(
        ingest: Ingest, configuration: StreamConfiguration, caller: Principal,
        allowance: Allowance, clock: CredentialClock = .system,
        requests: StreamingServerRequest<RequestRun>
    ) {
        self.ingest = ingest
        self.configuration = configuration
        self.caller = caller
        self.allowance = allowance
        self.clock = clock
        self.requests = requests
        self.acks = AckQueue(
            maxRequests: configuration.maxRequests, maxBytes: configuration.maxBytes,
            budget: ingest.budget
        ) { [metrics = ingest.metrics] in metrics.count($0, of: .streamEvents) }
    }

    /// Serves the call until the client has ended it and all is answered, or the server closes it.
    ///
    /// - Throws: the status that the stream ends with.
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

    /// Runs reader and writer side by side; the stream ends as the writer does.
    @inline(__always)
    private func pump(_ writer: Writer) async throws {
        try await withRPCCancellationHandler {
            // A child of this kind lives in its parent's memory, which a task group's does not. As
            // this function ends it is cancelled and waited for, once the reader can wait no more.
            async let _: Void = self.read()
            defer { self.acks.abandon() }
            try await self.answer(writer)
        } onCancelRPC: {
            self.acks.beginClosing()
        }
    }

    /// Does the same where credentials expire: announces that a grace before, and ends the reading
    /// as they do. What was read before is still answered.
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
            // The stream ends first.
        }
    }

    /// Tells the client what it has to know, until all is told.
    @inline(__always)
    private func answer(_ writer: Writer) async throws {
        while true {
            switch try await self.tell(writer) {
            case .goesOn: continue
            case .waits: await self.acks.waitForStep()
            case .graceBegins: return try await self.answerWithinGrace(writer)
            case .ends: return
            }
        }
    }

    /// What follows on what was told.
    private enum Progress { case goesOn, waits, graceBegins, ends }

    /// Tells what there is to tell now.
    @inline(never)
    private func tell(_ writer: Writer) async throws -> Progress {
        switch self.acks.takeStep() {
        case .answer(let answer):
            self.ingest.metrics.count(answer.requests, of: .streamEvents)
            let reportsAccepted = self.acks.reportsAccepted
            try await writer.write(.settled(answer, reportsAccepted: reportsAccepted))
            return .goesOn
        case .announceClosing(let durableSequence):
            try await writer.write(.closing(durableSequence: durableSequence))
            // The end of credentials has a time of its own.
            return self.acks.closingCause == .server ? .graceBegins : .goesOn
        case .finish: return .ends
        case nil: return .waits
        }
    }

    /// Goes on answering, and ends the reading once the grace of an announced end is over.
    @inline(never)
    private func answerWithinGrace(_ writer: Writer) async throws {
        async let _: Void = self.endReadingAfterGrace()
        try await self.answer(writer)
    }

    private func endReadingAfterGrace() async {
        // Cut short where the stream ends first.
        try? await Task.sleep(for: self.configuration.closingGrace)
        self.acks.endReading(.closing)
    }

    /// Admits requests as they come, and hands them to the journal.
    @inline(never)
    private func read() async {
        let intake = self.intake()
        let waiting = self.ingest.budget.waiting.call(self.requests.metadata)
        do {
            for try await run in self.requests.messages {
                waiting?.take(run.framedBytes)
                guard try await self.take(run, into: intake) else { return }
            }
            self.acks.endReading(.byClient)
        } catch {
            intake.handOn()
            self.acks.endReading(.failed(error))
        }
    }

    @inline(never)
    private func intake() -> RequestIntake {
        RequestIntake(
            ingest: self.ingest, tenant: self.caller.tenant, acks: self.acks,
            metadata: self.requests.metadata)
    }

    /// Takes the requests of a run in; false once the stream's time is over.
    @inline(never)
    private func take(_ run: RequestRun, into intake: RequestIntake) async throws -> Bool {
        for request in run {
            // A client that never pauses would keep a stream open whose time is over. What is
            // admitted and not handed on yet has left no trace: it is sent again.
            if self.acks.isReadingOver { return false }
            try intake.admit(request)
            guard intake.isDue || self.allowance.isLimited else { continue }
            try await self.handOn(intake)
        }
        try await self.handOn(intake)
        return true
    }

    /// Hands on what was admitted, and waits until there is room for more.
    private func handOn(_ intake: RequestIntake) async throws {
        intake.handOn()
        if !intake.hasRoom { await intake.waitForRoom() }
        // A journal that fills up slows its clients first: one request at a time.
        if self.ingest.journal.isNearlyFull { await self.acks.waitForIdle() }
        if self.ingest.budget.isFull { await self.ingest.budget.waitForRoom() }
        let (events, bytes) = intake.takeCounts()
        try await self.allowance.waitForTurn(events: events, bytes: bytes)
    }
}

extension AckQueue.ReadingEnd {
    /// - Throws: the status that a stream ends with whose reading has ended so.
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
