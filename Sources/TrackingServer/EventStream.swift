// One StreamEvents call: a reader that admits requests while earlier ones are being committed, and
// a writer that tells the client what has become durable.
internal import GRPCCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingCore
internal import TrackingJournal

/// A stream of requests and its acks.
struct EventStream: Sendable {
    let ingest: Ingest
    let configuration: StreamConfiguration
    /// Who sends it.
    let caller: Principal
    let allowance: Allowance
    /// What the caller's credentials expire by.
    var clock = CredentialClock.system

    /// Serves the call until the client has ended it and all is answered, or the server closes it.
    ///
    /// - Throws: the status that the stream ends with.
    func serve(
        _ requests: RPCAsyncSequence<RequestRun, any Error>, metadata: Metadata,
        to writer: RPCWriter<Sightline_V1_StreamEventsResponse>
    ) async throws {
        let acks = AckQueue(
            maxRequests: self.configuration.maxRequests, maxBytes: self.configuration.maxBytes,
            budget: self.ingest.budget
        ) { [metrics = self.ingest.metrics] in metrics.count($0, of: .streamEvents) }
        self.ingest.metrics.streamBegan()
        defer { self.ingest.metrics.streamEnded() }
        try await writer.write(self.greeting)
        try await withRPCCancellationHandler {
            try await self.pump(requests, metadata, acks, writer)
        } onCancelRPC: {
            acks.beginClosing()
        }
    }

    /// Runs reader and writer side by side; the stream ends as the writer does.
    private func pump(
        _ requests: RPCAsyncSequence<RequestRun, any Error>, _ metadata: Metadata,
        _ acks: AckQueue,
        _ writer: RPCWriter<Sightline_V1_StreamEventsResponse>
    ) async throws {
        try await withThrowingTaskGroup(of: ReadingEnd.self) { group in
            defer { acks.abandon() }
            group.addTask { await self.read(requests, metadata, acks) }
            if let expiry = self.caller.expiry {
                group.addTask { await self.expire(at: expiry, acks) }
            }
            while true {
                switch await acks.nextStep() {
                case .answer(let answer):
                    self.ingest.metrics.count(answer.requests, of: .streamEvents)
                    try await writer.write(self.response(answer, acks.reportsAccepted))
                case .announceClosing(let durableSequence):
                    try await writer.write(self.closing(durableSequence))
                    // The end of credentials has a time of its own.
                    guard acks.closingCause == .server else { continue }
                    let grace = self.configuration.closingGrace
                    group.addTask {
                        try? await Task.sleep(for: grace)  // Cut short when the stream ends first.
                        acks.endReading()
                        return .closing
                    }
                case .finish:
                    let end = try await group.next() ?? .byClient
                    group.cancelAll()
                    try end.check(acks.closingCause)
                    return
                }
            }
        }
    }

    /// How reading ended.
    private enum ReadingEnd {
        case byClient
        case closing
        case failed(any Error)

        func check(_ cause: AckQueue.ClosingCause) throws {
            switch (self, cause) {
            case (.byClient, _): return
            case (.closing, .server): throw ServiceError.closing.status
            case (.closing, .credentials): throw ServiceError.credentialsExpired.status
            case (.failed(let error), _): throw error
            }
        }
    }

    /// Announces the end a grace before the caller's credentials expire, and ends the reading as
    /// they do: what was read before is still answered.
    private func expire(at expiry: Int64, _ acks: AckQueue) async -> ReadingEnd {
        defer { acks.endReading() }
        let grace = Int64(self.configuration.closingGrace / .microseconds(1))
        do {
            try await self.clock.wait(expiry &- grace)
            acks.beginClosing(.credentials)
            try await self.clock.wait(expiry)
        } catch {
            // The stream ends first.
        }
        return .closing
    }

    /// Admits requests as they come, and hands them to the journal.
    private func read(
        _ runs: RPCAsyncSequence<RequestRun, any Error>, _ metadata: Metadata, _ acks: AckQueue
    ) async -> ReadingEnd {
        defer { acks.endReading() }
        var intake = RequestIntake(
            ingest: self.ingest, tenant: self.caller.tenant, acks: acks, metadata: metadata)
        do {
            for try await run in runs {
                for request in run {
                    // A client that never pauses would keep a stream open whose time is over. What
                    // is admitted and not handed on yet has left no trace: it is sent again.
                    if acks.isReadingOver { return .closing }
                    try intake.admit(request)
                    guard intake.isDue || self.allowance.isLimited else { continue }
                    try await self.handOn(&intake, acks)
                }
                try await self.handOn(&intake, acks)
            }
            return .byClient
        } catch {
            intake.handOn()
            return .failed(error)
        }
    }

    /// Hands on what was admitted, and waits until there is room for more.
    private func handOn(_ intake: inout RequestIntake, _ acks: AckQueue) async throws {
        intake.handOn()
        if !intake.hasRoom { await intake.waitForRoom() }
        // A journal that fills up slows its clients first: one request at a time.
        if self.ingest.journal.isNearlyFull { await acks.waitForIdle() }
        if self.ingest.budget.isFull { await self.ingest.budget.waitForRoom() }
        let (events, bytes) = intake.takeCounts()
        try await self.allowance.waitForTurn(events: events, bytes: bytes)
    }
}
