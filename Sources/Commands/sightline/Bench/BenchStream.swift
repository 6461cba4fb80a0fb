internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import GRPCProtobuf
internal import SightlineClient
internal import SightlineProtos
internal import Synchronization
internal import TrackingRules
internal import WireFormat

/// Passes encoded requests through unchanged.
private struct BenchBytes: MessageSerializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: ArraySlice<UInt8>) -> Bytes {
        Bytes(message)
    }
}

/// Sends its share of a run over one stream: a writer keeps the window full, and a reader processes
/// acks. If the server closes the stream, it opens another.
final class BenchStream: Sendable {
    private typealias Method = Sightline_V1_TrackingService.Method.StreamEvents
    private typealias Response = StreamingClientResponse<Sightline_V1_StreamEventsResponse>

    private let plan: BenchPlan
    private let progress: BenchProgress
    private let requests: [BenchRequest]
    private let target: String
    private let onAnswer: @Sendable (BenchAnswer) -> Void
    private let isOver = Atomic(false)

    init(
        _ plan: BenchPlan, _ progress: BenchProgress, requests: [BenchRequest], target: String,
        onAnswer: @escaping @Sendable (BenchAnswer) -> Void
    ) {
        self.plan = plan
        self.progress = progress
        self.requests = requests
        self.target = target
        self.onAnswer = onAnswer
    }

    /// Runs until the run is over and everything is acknowledged.
    ///
    /// - Throws: `TrackingClientError`.
    func run(
        over client: GRPCClient<HTTP2ClientTransport.Posix>, credential: ClientCredential?
    ) async throws {
        while !self.isOver.load(ordering: .relaxed) {
            let call = Call(window: self.plan.window)
            let metadata = try credential?.metadata ?? [:]
            do {
                try await self.run(call, over: client, metadata: metadata)
            } catch {
                try Task.checkCancellation()
                try self.check(call.flow.withLock { $0 }, StreamFailure(error))
                continue
            }
            let flow = call.flow.withLock { $0 }
            let isDone = flow.underWay == 0 && self.isOver.load(ordering: .relaxed)
            if !isDone { try self.check(flow, Self.endedEarly) }
        }
    }

    private static let endedEarly = StreamFailure(
        RPCError(
            code: .unavailable, message: "the server ended the stream before all was settled"))

    /// The state that the tasks of one call share.
    private final class Call: Sendable {
        let flow: Mutex<BenchFlow>
        /// Signals that the writer may continue.
        let room = Signal()

        init(window: Int) { self.flow = Mutex(BenchFlow(window: window)) }
    }

    private func run(
        _ call: Call, over client: GRPCClient<HTTP2ClientTransport.Posix>, metadata: Metadata
    ) async throws {
        try await client.bidirectionalStreaming(
            request: StreamingClientRequest(metadata: metadata) { writer in
                try await self.write(to: writer, call)
            },
            descriptor: Method.descriptor, serializer: BenchBytes(),
            deserializer: ProtobufDeserializer<Sightline_V1_StreamEventsResponse>(),
            options: .defaults
        ) { try await self.read($0, call) }
    }

    /// Returns if the server closed the stream regularly, so that another one may follow; else
    /// throws.
    private func check(_ flow: BenchFlow, _ failure: StreamFailure) throws {
        if flow.isClosing, flow.underWay == 0 { return }
        guard self.progress.start != nil || !failure.isRetryable else {
            throw TrackingClientError.unreachable(
                target: self.target, reason: "\(failure.code): \(failure.reason)")
        }
        throw TrackingClientError.refused(
            target: self.target, code: failure.code, reason: failure.reason,
            unsettled: flow.underWay * self.plan.batch)
    }

    // MARK: The two sides

    private func write(to writer: RPCWriter<ArraySlice<UInt8>>, _ call: Call) async throws {
        let start = try await self.progress.waitForStart()
        var requests = self.requests
        var next = 0
        while try await self.hasRoom(call) {
            guard let turn = self.progress.takeTurn(elapsed: .now - start) else {
                self.isOver.store(true, ordering: .relaxed)
                return
            }
            if let due = turn.due, start + due > .now {
                try await Task.sleep(until: start + due, tolerance: .zero, clock: .continuous)
            }
            let moment = turn.due ?? (.now - start)
            let sequence = call.flow.withLock { $0.begin(at: moment) }
            if turn.eventCount != requests[next].eventCount {
                // The last request of a limited run may be smaller.
                requests[next] = try BenchRequest(
                    self.plan, count: turn.eventCount, seconds: Bench.now())
            }
            self.progress.noteSent(events: turn.eventCount)
            requests[next].number(
                sequence: sequence, firstID: self.progress.ids.take(turn.eventCount))
            try await writer.write(requests[next].message)
            next = next + 1 == requests.count ? 0 : next + 1
        }
    }

    /// Waits until another request may be sent; false if the stream is closing.
    private func hasRoom(_ call: Call) async throws -> Bool {
        while true {
            let (hasRoom, takesMore) = call.flow.withLock {
                ($0.hasRoom, !$0.isClosing && !$0.isEnded)
            }
            if hasRoom || !takesMore { return takesMore }
            try await call.room.wait()
        }
    }

    private func read(_ response: Response, _ call: Call) async throws {
        defer {
            call.flow.withLock { $0.isEnded = true }
            call.room.raise()
        }
        for try await answer in response.messages {
            // Before the start, answers can only be a greeting or an announced end.
            let elapsed = self.progress.start.map { .now - $0 } ?? .zero
            let latencies = call.flow.withLock { flow in
                if answer.hasClosing { flow.isClosing = true }
                return flow.settle(through: answer.durableSequence, at: elapsed)
            }
            call.room.raise()
            self.progress.noteSettled(latencies.count)
            self.onAnswer(BenchAnswer(latencies: latencies, tally: Tally(answer.tally)))
        }
    }
}

extension Tally {
    /// The counts of an answer, each limited to Int.
    fileprivate init(_ tally: Sightline_V1_Tally) {
        self.init()
        self.accepted = Int(clamping: tally.accepted)
        self.suppressed = Int(clamping: tally.suppressed)
        self.duplicate = Int(clamping: tally.duplicate)
        self.rejected = Int(clamping: tally.rejected)
        self.retryLater = Int(clamping: tally.retryLater)
    }
}
