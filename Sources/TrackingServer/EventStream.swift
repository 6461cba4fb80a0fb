// One StreamEvents call: a reader that admits requests while earlier ones are being committed, and
// a writer that tells the client what has become durable.
internal import GRPCCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingCore
internal import TrackingJournal

/// A stream of requests and its acks.
///
/// Thousands may be open and silent, and what each keeps then is mostly the frames of the functions
/// that wait. So this is a class and not a value that lies in each of those frames; and what is
/// rarely needed, or holds a message, is a function of its own that is not inlined.
final class EventStream: Sendable {
    let ingest: Ingest
    let configuration: StreamConfiguration
    /// Who sends it.
    let caller: Principal
    let allowance: Allowance
    /// What the caller's credentials expire by.
    let clock: CredentialClock
    private let requests: StreamingServerRequest<RequestRun>
    private let writer: RPCWriter<Response>
    private let acks: AckQueue

    init(
        ingest: Ingest, configuration: StreamConfiguration, caller: Principal,
        allowance: Allowance, clock: CredentialClock = .system,
        requests: StreamingServerRequest<RequestRun>, writer: RPCWriter<Response>
    ) {
        self.ingest = ingest
        self.configuration = configuration
        self.caller = caller
        self.allowance = allowance
        self.clock = clock
        self.requests = requests
        self.writer = writer
        self.acks = AckQueue(
            maxRequests: configuration.maxRequests, maxBytes: configuration.maxBytes,
            budget: ingest.budget
        ) { [metrics = ingest.metrics] in metrics.count($0, of: .streamEvents) }
    }

    /// Serves the call until the client has ended it and all is answered, or the server closes it.
    ///
    /// - Throws: the status that the stream ends with.
    func serve() async throws {
        self.ingest.metrics.streamBegan()
        defer { self.ingest.metrics.streamEnded() }
        try await self.tell(self.greeting)
        try await withRPCCancellationHandler {
            try await self.pump()
        } onCancelRPC: {
            self.acks.beginClosing()
        }
    }

    /// Runs reader and writer side by side; the stream ends as the writer does.
    @inline(never)
    private func pump() async throws {
        // A child of this kind lives in its parent's memory, which a task group's does not. As this
        // function ends it is cancelled and waited for, once the reader can wait no more.
        async let _: Void = self.read()
        defer { self.acks.abandon() }
        if let expiry = self.caller.expiry {
            try await self.answer(until: expiry)
        } else {
            try await self.answer()
        }
        try self.acks.readingEnd.check(self.acks.closingCause)
    }

    /// Tells the client what it has to know, until all is told.
    @inline(never)
    private func answer() async throws {
        while true {
            switch await self.acks.nextStep() {
            case .answer(let answer):
                self.ingest.metrics.count(answer.requests, of: .streamEvents)
                try await self.tell(self.response(answer, self.acks.reportsAccepted))
            case .announceClosing(let durableSequence):
                try await self.tell(self.closing(durableSequence))
                // The end of credentials has a time of its own.
                guard self.acks.closingCause == .server else { continue }
                return try await self.answerWithinGrace()
            case .finish: return
            }
        }
    }

    /// Does the same, and ends the reading once the grace of an announced end is over.
    @inline(never)
    private func answerWithinGrace() async throws {
        async let _: Void = self.endReadingAfterGrace()
        try await self.answer()
    }

    private func endReadingAfterGrace() async {
        // Cut short where the stream ends first.
        try? await Task.sleep(for: self.configuration.closingGrace)
        self.acks.endReading(.closing)
    }

    /// Does the same where credentials expire: announces that a grace before, and ends the reading
    /// as they do. What was read before is still answered.
    @inline(never)
    private func answer(until expiry: Int64) async throws {
        async let _: Void = self.expire(at: expiry)
        try await self.answer()
    }

    private func expire(at expiry: Int64) async {
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

    /// Writes one response, which then lies in this function's frame alone.
    @inline(never)
    private func tell(_ response: Response) async throws {
        try await self.writer.write(response)
    }

    /// Admits requests as they come, and hands them to the journal.
    @inline(never)
    private func read() async {
        let intake = self.intake()
        do {
            for try await run in self.requests.messages {
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
