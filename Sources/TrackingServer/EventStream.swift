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

    /// Serves the call until the client has ended it and all is answered, or the server closes it.
    ///
    /// - Throws: the status that the stream ends with.
    func serve(
        _ requests: RPCAsyncSequence<RequestRun, any Error>, metadata: Metadata,
        to writer: RPCWriter<Sightline_V1_StreamEventsResponse>
    ) async throws {
        let acks = AckQueue(
            maxRequests: self.configuration.maxRequests, maxBytes: self.configuration.maxBytes)
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
            group.addTask { await self.read(requests, metadata, acks) }
            while true {
                switch await acks.nextStep() {
                case .answer(let answer):
                    try await writer.write(self.response(answer, acks.reportsAccepted))
                case .announceClosing(let durableSequence):
                    try await writer.write(self.closing(durableSequence))
                    let grace = self.configuration.closingGrace
                    group.addTask {
                        try? await Task.sleep(for: grace)  // Cut short when the stream ends first.
                        acks.endReading()
                        return .closing
                    }
                case .finish:
                    let end = try await group.next() ?? .byClient
                    group.cancelAll()
                    try end.check()
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

        func check() throws {
            switch self {
            case .byClient: return
            case .closing: throw ServiceError.closing.status
            case .failed(let error): throw error
            }
        }
    }

    /// Admits requests as they come, and hands them to the journal.
    private func read(
        _ runs: RPCAsyncSequence<RequestRun, any Error>, _ metadata: Metadata, _ acks: AckQueue
    ) async -> ReadingEnd {
        defer { acks.endReading() }
        var intake = RequestIntake(ingest: self.ingest, acks: acks, metadata: metadata)
        do {
            for try await run in runs {
                for request in run {
                    try intake.admit(request)
                    guard !intake.hasRoom else { continue }
                    intake.handOn()
                    await intake.waitForRoom()
                }
                intake.handOn()
                // A journal that fills up slows its clients first: one run at a time.
                if self.ingest.journal.isNearlyFull { await acks.waitForIdle() }
            }
            return .byClient
        } catch {
            intake.handOn()
            return .failed(error)
        }
    }
}
