internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
package import SightlineProtos
internal import SwiftProtobuf
internal import TrackingCore

/// A client of one server. It keeps unacknowledged events, and reconnects until all are settled.
package struct TrackingClient: Sendable {
    /// How long a finished sender waits for the server to end the stream.
    private static let closingGrace: Duration = .seconds(2)
    /// How often a sender checks that it makes progress.
    private static let watchInterval: Duration = .milliseconds(100)

    private let address: ServerAddress
    private let limits: RequestLimits
    private let giveUpAfter: Duration
    private let security: ClientSecurity
    private let credential: ClientCredential?

    /// Creates a client of `address`. The server may tighten `limits`. A sender fails if no event
    /// is settled for `giveUpAfter`, which is also the timeout of single calls. Every connection
    /// uses `security`, every call `credential`.
    package init(
        address: ServerAddress,
        limits: RequestLimits = RequestLimits(),
        giveUpAfter: Duration = .seconds(60),
        security: ClientSecurity = ClientSecurity(),
        credential: ClientCredential? = nil
    ) {
        self.address = address
        self.limits = limits
        self.giveUpAfter = giveUpAfter
        self.security = security
        self.credential = credential
    }

    /// Sends events until each has its final verdict, over as many streams as necessary. Reading
    /// ahead is bounded. Calls `onProgress` for every answer, possibly from two tasks.
    ///
    /// - Throws: `TrackingClientError`, or an error of the source.
    package func send<Events>(
        _ events: Events, onProgress: @escaping @Sendable (SendProgress) -> Void = { _ in }
    ) async throws -> SendSummary
    where Events: AsyncSequence & Sendable, Events.Element == OutgoingEvent {
        let session = SendSession(limits: self.limits, onProgress: onProgress)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await session.read(events)
                return false
            }
            group.addTask {
                try await self.settle(session)
                return true
            }
            group.addTask {
                try await self.watch(session)
                return true
            }
            while let isSettled = try await group.next(), !isSettled {}
            group.cancelAll()
        }
        return session.summary
    }

    /// Explains events without recording them.
    ///
    /// - Throws: `TrackingClientError`.
    package func explain(
        _ events: [Sightline_V1_TrackingEvent]
    ) async throws -> Sightline_V1_ExplainEventsResponse {
        var request = Sightline_V1_ExplainEventsRequest()
        request.events = events
        let message = request
        return try await self.call { service, metadata, options in
            try await service.explainEvents(message, metadata: metadata, options: options)
        }
    }

    /// Inspects the JSON text of a payload.
    ///
    /// - Throws: `TrackingClientError`.
    package func inspect(
        json: String, platform: Sightline_V1_Platform
    ) async throws -> Sightline_V1_InspectPayloadResponse {
        var request = Sightline_V1_InspectPayloadRequest()
        request.json = json
        request.platform = platform
        let message = request
        return try await self.call { service, metadata, options in
            try await service.inspectPayload(message, metadata: metadata, options: options)
        }
    }

    private typealias Service =
        Sightline_V1_TrackingService.Client<HTTP2ClientTransport.Posix>

    /// Opens streams one after another until everything is settled.
    private func settle(_ session: SendSession) async throws {
        var backoff = Backoff()
        var generator = SystemRandomNumberGenerator()
        while true {
            let settledBefore = session.summary.settledCount
            let failure = try await self.stream(session)
            if session.isDone { return }
            if session.summary.settledCount > settledBefore { backoff.reset() }
            guard failure.isRetryable else {
                throw TrackingClientError.refused(
                    target: self.address.description, code: failure.code, reason: failure.reason,
                    unsettled: session.unsettledCount)
            }
            let asked = min(failure.retryDelay ?? .zero, UnacknowledgedRequests.maxRetryDelay)
            let delay = max(asked, backoff.next(using: &generator))
            session.interrupt(failure, delay: delay)
            try await Task.sleep(for: delay)
        }
    }

    /// Runs one stream on a connection of its own; returns why it ended.
    private func stream(_ session: SendSession) async throws -> StreamFailure {
        let transport = try self.makeTransport()
        let metadata = try self.credential?.metadata ?? [:]
        let signal = session.openStream()
        do {
            try await withGRPCClient(transport: transport) { client in
                try await Service(wrapping: client).streamEvents(
                    metadata: metadata,
                    requestProducer: { try await session.write(to: $0, wokenBy: signal) },
                    onResponse: { try await session.read($0, waking: signal) })
            }
        } catch {
            try Task.checkCancellation()
            return StreamFailure(error)
        }
        return StreamFailure(
            RPCError(
                code: .unavailable,
                message: "the server ended the stream before all was settled"))
    }

    /// Fails the sender if it makes no progress.
    private func watch(_ session: SendSession) async throws {
        var doneSince: ContinuousClock.Instant?
        while true {
            try await Task.sleep(for: Self.watchInterval)
            let now = ContinuousClock.now
            if let stalledSince = session.stalledSince, now - stalledSince >= self.giveUpAfter {
                throw TrackingClientError.gaveUp(
                    target: self.address.description, unsettled: session.unsettledCount,
                    seconds: self.giveUpAfter / .seconds(1), lastFailure: session.lastFailure)
            }
            guard session.isDone else { continue }
            let since = doneSince ?? now
            doneSince = since
            if now - since >= Self.closingGrace { return }
        }
    }

    private func call<Answer: Sendable>(
        _ body: @Sendable (Service, Metadata, CallOptions) async throws -> Answer
    ) async throws -> Answer {
        try await self.callAny { client, metadata, options in
            try await body(Service(wrapping: client), metadata, options)
        }
    }

    /// Makes a unary call to any service.
    ///
    /// - Throws: `TrackingClientError`.
    func callAny<Answer: Sendable>(
        _ body:
            @Sendable (
                GRPCClient<HTTP2ClientTransport.Posix>, Metadata, CallOptions
            ) async throws -> Answer
    ) async throws -> Answer {
        var options = CallOptions.defaults
        options.timeout = self.giveUpAfter
        let transport = try self.makeTransport()
        let metadata = try self.credential?.metadata ?? [:]
        do {
            return try await withGRPCClient(transport: transport) { client in
                try await body(client, metadata, options)
            }
        } catch {
            try Task.checkCancellation()
            let failure = StreamFailure(error)
            let target = self.address.description
            guard failure.isRetryable else {
                throw TrackingClientError.refused(
                    target: target, code: failure.code, reason: failure.reason, unsettled: 0)
            }
            throw TrackingClientError.unreachable(
                target: target, reason: "\(failure.code): \(failure.reason)")
        }
    }

    /// Each stream has its own connection, so that only our backoff applies between them.
    ///
    /// - Throws: `TrackingClientError.badSecurity`.
    private func makeTransport() throws -> HTTP2ClientTransport.Posix {
        do {
            return try HTTP2ClientTransport.Posix(
                target: self.address.target, transportSecurity: self.security.transportSecurity)
        } catch {
            throw TrackingClientError.badSecurity(reason: "\(error)")
        }
    }
}

extension TrackingClient {
    /// Sends a list of events; see `send(_:onProgress:)` for sequences.
    package func send(
        _ events: [OutgoingEvent], onProgress: @escaping @Sendable (SendProgress) -> Void = { _ in }
    ) async throws -> SendSummary {
        let sequence = AsyncStream<OutgoingEvent> { continuation in
            for event in events {
                continuation.yield(event)
            }
            continuation.finish()
        }
        return try await self.send(sequence, onProgress: onProgress)
    }
}
