internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import GRPCProtobuf
internal import SightlineProtos
internal import Synchronization

extension SightlineClient {
    private typealias Method = Sightline_V1_TrackingService.Method.StreamEvents
    private typealias Response = StreamingClientResponse<Sightline_V1_StreamEventsResponse>

    /// The interval at which a stream is checked for progress.
    private static let watchInterval: Duration = .seconds(1)
    private static let firstBackoff: Duration = .milliseconds(100)
    private static let longestBackoff: Duration = .seconds(30)
    /// The longest delay that a server may ask for: its quotas cause waits of more than a minute.
    private static let longestAskedDelay: Duration = .seconds(3600)
    /// Answers of any size: the results of the requests under way may exceed the default of 4 MiB,
    /// and each stream would end with them again. The transport bounds answers by the limit on
    /// requests (grpc-swift-nio-transport 2.9.2).
    private static let callOptions: CallOptions = {
        var options = CallOptions.defaults
        options.maxRequestMessageBytes = .max
        options.maxResponseMessageBytes = .max
        return options
    }()

    /// Opens streams, one after another while there are events, until the client is closed and all
    /// events are settled. Cancel it to stop at once: events without a verdict stay in
    /// `unacknowledged`, and in the spool.
    ///
    /// - Throws: `SightlineClientError.refused` if the server permanently refuses this client.
    public func run() async throws {
        let isFirst = self.state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { throw SightlineClientError.ran }
        self.began.fulfil(())
        let end = await self.runStreams()
        self.finish(end ?? .closed)
        self.ended.fulfil(())
        if let end { throw end }
    }

    /// Returns why the server refuses the client; nil at a regular end.
    private func runStreams() async -> SightlineClientError? {
        var tryCount = 0
        do {
            while try await self.waitForEvents() {
                let settledCount = self.statistics.settledCount
                let failure = try await self.stream()
                if self.state.withLock({ $0.outbox.isDone || $0.isOver }) { return nil }
                self.note(failure)
                guard failure.isRetryable || !failure.isOfServer else {
                    return .refused(
                        target: self.configuration.address.description, code: failure.code,
                        reason: failure.reason)
                }
                tryCount = self.statistics.settledCount > settledCount ? 0 : tryCount + 1
                let delay = Self.backoff(
                    tryCount: tryCount, asked: failure.retryDelay ?? .zero,
                    jitter: .random(in: 0...1))
                self.configuration.onInterruption?(
                    .init(
                        code: failure.code, reason: failure.reason, delay: delay, failure: failure))
                try await self.over.wait(for: delay)
            }
        } catch {
            // The wait throws only if cancelled.
        }
        return nil
    }

    /// Keeps why a stream has failed, and logs it once, unless the application is told of each.
    private func note(_ failure: StreamFailure) {
        var reason = "\(failure.code): \(failure.reason)"
        if failure.isClosedInPlaintext {
            reason += ". If the server speaks TLS, set security to .tls()"
        }
        let now = self.now()
        let (isNews, count) = self.state.withLock { ($0.fail(reason, now: now), $0.outbox.count) }
        guard isNews, self.configuration.onInterruption == nil else { return }
        self.warn("a stream has failed, and \(count) events have no verdict yet: \(reason)")
    }

    /// The delay that the server asks for, plus a random one whose limit doubles with each try that
    /// settles nothing.
    package static func backoff(tryCount: Int, asked: Duration, jitter: Double) -> Duration {
        let longest =
            tryCount < 10
            ? min(Self.firstBackoff * (1 << tryCount), Self.longestBackoff) : Self.longestBackoff
        return min(max(asked, .zero), Self.longestAskedDelay) + longest * jitter
    }

    /// Waits until there is something to send, or until the end; returns whether there is
    /// something.
    private func waitForEvents() async throws -> Bool {
        while true {
            let (count, isEnding) = self.state.withLock { state in
                (state.outbox.count, state.isOver || state.outbox.isDone)
            }
            if isEnding { return false }
            if count > 0 { return true }
            try await self.work.wait()
        }
    }

    /// Runs one stream on its own connection, so that no other backoff than ours applies; returns
    /// why it ended.
    private func stream() async throws -> StreamFailure {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.call() }
                group.addTask { try await self.watch() }
                group.addTask { try await self.over.get() }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            try Task.checkCancellation()
            return StreamFailure(error, security: self.configuration.security)
        }
        return StreamFailure(
            RPCError(
                code: .unavailable,
                message: "the server ended the stream before all was settled"),
            security: self.configuration.security)
    }

    private func call() async throws {
        let metadata = try self.configuration.credential?.metadata ?? [:]
        var config = HTTP2ClientTransport.Posix.Config.defaults
        config.connection.keepalive = .init(
            time: self.configuration.keepaliveTime, timeout: self.configuration.pingTimeout,
            allowWithoutCalls: false)
        let transport = try self.configuration.security.transport(
            to: self.configuration.address, config: config)
        self.state.withLock { $0.openStream(now: self.now()) }
        defer { self.telemetry.endSpans() }
        try await withGRPCClient(transport: transport) { client in
            try await client.bidirectionalStreaming(
                request: StreamingClientRequest(metadata: metadata) {
                    try await self.write(to: $0)
                },
                descriptor: Method.descriptor, serializer: RequestSerializer(),
                deserializer: ProtobufDeserializer<Sightline_V1_StreamEventsResponse>(),
                options: Self.callOptions
            ) { try await self.read($0) }
        }
    }

    /// Writes requests as they are due, until the stream is half-closed or has ended.
    private func write(to writer: RPCWriter<[UInt8]>) async throws {
        while true {
            let now = self.now()
            switch self.state.withLock({ $0.outbox.nextStep(now: now) }) {
            case .write(let request):
                self.telemetry.begin(request)
                try await writer.write(
                    RequestBytes.encoded(
                        request, reportsAccepted: self.configuration.reportsAccepted))
            case .halfClose:
                return
            case .wait(until: nil):
                try await self.work.wait()
            case .wait(until: .some(let time)):
                try await self.work.wait(for: time - now)
            }
        }
    }

    /// Processes answers until the server ends the stream.
    private func read(_ response: Response) async throws {
        defer {
            self.state.withLock { $0.outbox.endStream() }
            self.work.raise()
        }
        for try await answer in response.messages {
            let (settled, promises, isNews) = self.state.withLock {
                $0.receive(answer, now: self.now())
            }
            self.work.raise()
            for (ticket, result) in settled { ticket.finish(.settled(result)) }
            for promise in promises { promise.fulfil(()) }
            let (oldest, statistics) = self.state.withLock {
                ($0.outbox.oldestSequence, $0.currentStatistics)
            }
            if isNews {
                self.warn(
                    "\(statistics.pendingCount) events have no verdict yet: "
                        + ClientState.refusesAll)
            }
            self.telemetry.record(statistics, settledBefore: oldest)
        }
    }

    /// Returns when the stream makes no progress. A deadline that is set meanwhile is noticed
    /// within a second.
    private func watch() async throws {
        while true {
            try await Task.sleep(for: Self.watchInterval)
            let now = self.now()
            guard let deadline = self.state.withLock({ $0.outbox.deadline }), now >= deadline
            else { continue }
            throw RPCError(
                code: .deadlineExceeded,
                message: "no answer for \(self.configuration.answerTimeout)")
        }
    }
}
