// The sink for a receiver over HTTP: CloudEvents in JSON, signed as Standard Webhooks has it.
internal import Crypto
internal import Foundation
internal import Instrumentation
package import Logging
internal import Pacing
internal import ServiceContextModule
package import SinkKit
package import TrackingRules

/// Posts each batch in one or more requests, one after the other, and has delivered it when the
/// receiver has answered each with 2xx. Parts that were taken are not sent again while the batch is
/// tried again; after a restart they are, with the same `webhook-id` and the same hit ids.
package actor WebhookSink: ErasableSink, ProbeableSink {
    /// "webhook".
    package nonisolated let name = "webhook"
    /// As much as a request holds. The journal's payload is shorter than its JSON, and a single
    /// group may be larger: both are split.
    package nonisolated var maxBatch: BatchLimit {
        BatchLimit(hits: self.configuration.maxHits, bytes: self.configuration.maxBytes)
    }
    /// The look-up of a host blocks, and so does reading the secrets.
    private let executor = QueueExecutor(label: "sightline.sink.webhook")
    /// The sink's own queue.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        self.executor.asUnownedSerialExecutor()
    }

    nonisolated let configuration: WebhookConfiguration
    let client: WebhookClient
    let clock: WebhookClock
    private let logger: Logger?
    var events: WebhookEvents
    private var progress: WebhookProgress?
    /// Until when nothing is sent, and why.
    private var hold: (end: ContinuousClock.Instant, reason: String)?
    /// The largest body that the receiver takes, as far as it has told.
    private var maxBytes: Int
    /// By tenant, the hits that have become dead letters by a status since one was accepted.
    private var refusals: TenantRefusals

    /// A sink that connects with its first batch.
    ///
    /// - Parameter logger: tells of a tenant of whom too many hits are refused.
    /// - Throws: an error that names the key, if the URL or the file of secrets cannot be used.
    package init(_ configuration: WebhookConfiguration, logger: Logger? = nil) throws {
        try self.init(
            configuration, clock: WebhookClock(), logger: logger, lookup: WebhookResolver.system)
    }

    /// - Parameters:
    ///   - clock: tests substitute it.
    ///   - lookup: finds a host's addresses; tests substitute it.
    init(
        _ configuration: WebhookConfiguration, clock: WebhookClock, logger: Logger? = nil,
        lookup: @escaping WebhookResolver.Lookup
    ) throws {
        let url: WebhookURL
        do {
            url = try WebhookURL(configuration.url)
        } catch {
            throw WebhookFailure("webhook.url has to \(error)")
        }
        // A file that is not usable stops the start; later on, it holds deliveries up.
        _ = try WebhookSecrets(file: configuration.secretFile)
        self.configuration = configuration
        self.clock = clock
        self.logger = logger
        self.refusals = TenantRefusals(limit: configuration.maxRefusedInRow)
        self.events = try WebhookEvents(source: configuration.source)
        self.maxBytes = configuration.maxBytes
        self.client = WebhookClient(
            url, configuration,
            WebhookResolver(url, AddressGuard(allowed: configuration.allow), lookup: lookup))
    }

    /// Posts a batch.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        if let hold, self.clock.now() < hold.end {
            let left = self.clock.now().duration(to: hold.end).components.seconds + 1
            return .unavailable(reason: "\(hold.reason); \(left) s are left")
        }
        self.hold = nil
        do {
            let secrets = try WebhookSecrets(file: self.configuration.secretFile)
            var progress = try self.resume(hits)
            // Kept for the next try if this one fails.
            defer { self.progress = progress.settled < self.events.events.count ? progress : nil }
            let settled = progress.settled
            do {
                while progress.settled < self.events.events.count {
                    if Task.isCancelled { throw WebhookFailure("the server stops") }
                    try await self.send(&progress, secrets)
                }
                return SinkAnswer(rejected: progress.rejected)
            } catch let failure as WebhookFailure where progress.settled > settled {
                return .progressed(reason: failure.description)
            }
        } catch let gone as WebhookGone {
            return .suspended(reason: gone.reason)
        } catch {
            return SinkAnswer(failure: error)
        }
    }

    /// Encodes a batch, and finds out how far it has come.
    private func resume(_ hits: HitBatch) throws -> WebhookProgress {
        let rejected = try self.events.encode(hits)
        // By their ids: a subject that is forgotten between two tries is masked in the second one.
        let ids = self.events.events.reduce(into: [UInt8]()) { $0 += $1.id.utf8 }
        let batch = WebhookProgress.Batch(
            journal: hits.journal, sequence: hits.sequence, hitCount: hits.hitCount,
            digest: WebhookSecrets.id(of: ids))
        if let progress, progress.batch == batch { return progress }
        return WebhookProgress(
            batch, rejected: rejected, maxHits: self.configuration.maxHits)
    }

    /// Sends the next request of a batch.
    private func send(_ progress: inout WebhookProgress, _ secrets: WebhookSecrets) async throws {
        let waiting = self.events.events[progress.settled...]
        let isBlamed = waiting.first.map { self.refusals.blamed.contains($0.tenant) } ?? false
        let part = WebhookPart.first(
            of: waiting,
            hits: min(
                progress.maxAnswered,
                isBlamed ? self.configuration.maxHits : progress.maxHits),
            bytes: self.maxBytes, apart: self.refusals.blamed)
        let sent = waiting[part]
        let size = WebhookPart.bytes(of: sent)
        if size > self.configuration.maxBytes {
            // It is alone, or there would be fewer.
            let reason = "\(size) bytes, and webhook.max_bytes is \(self.configuration.maxBytes)"
            // Not by the receiver, so it says nothing of that.
            return self.reject(sent, reason, &progress)
        }
        let ids = Set(sent.map(\.id))
        let response = try await self.post(self.events.body(of: part), secrets)
        switch response.answer(ids: ids, now: self.clock.seconds()) {
        case .taken(let refused):
            self.accept(sent)
            let reasons = sent.compactMap { event in
                refused[event.id].map { (event.position, $0) }
            }
            progress.settle(
                sent.count,
                refused: Dictionary(uniqueKeysWithValues: reasons),
                limit: self.configuration.maxHits)
        case .refused(let reason) where isBlamed:
            self.reject(sent, Self.reason(reason, of: sent.count), &progress)
        case .refused(let reason):
            if sent.count > 1 { return progress.halve(sent.count) }
            try await self.refuse(sent, reason, secrets, &progress)
        case .tooLarge(let reason):
            if sent.count > 1 { return self.maxBytes = size / 2 }
            try await self.refuse(sent, reason, secrets, &progress)
        case .tooLong(let reason):
            guard sent.count > 1 else { throw WebhookFailure(reason) }
            progress.halveAnswered(sent.count)
        case .unavailable(let reason, let wait):
            self.hold(reason, wait)
            throw WebhookFailure(reason)
        case .gone(let reason): throw WebhookGone(reason: reason)
        }
    }

    /// Posts a body with its signature.
    func post(_ body: [UInt8], _ secrets: WebhookSecrets) async throws -> WebhookResponse {
        let id = WebhookSecrets.id(of: body)
        let timestamp = self.clock.seconds()
        var headers = [
            ("content-type", "application/cloudevents-batch+json"),
            ("user-agent", "sightline"),
            ("webhook-id", id),
            ("webhook-timestamp", String(timestamp)),
            ("webhook-signature", secrets.signature(id: id, timestamp: timestamp, body: body)),
        ]
        if let context = ServiceContext.current {
            InstrumentationSystem.instrument.inject(context, into: &headers, using: TraceInjector())
        }
        return try await self.client.post(body, headers: headers, now: self.clock.now())
    }

    /// Notes that the receiver has taken a request.
    private func accept(_ sent: ArraySlice<WebhookEvents.Event>) {
        var last: [UInt8]?
        for event in sent where event.tenant != last {
            self.refusals.accept(event.tenant)
            last = event.tenant
        }
    }

    /// Makes a hit a dead letter, unless so many of its tenant have become that and the receiver
    /// takes nothing at all.
    private func refuse(
        _ sent: ArraySlice<WebhookEvents.Event>, _ reason: String, _ secrets: WebhookSecrets,
        _ progress: inout WebhookProgress
    ) async throws {
        for event in sent {
            switch self.refusals.refuse(event.tenant) {
            case .few: break
            case .blamed: self.tell(of: event.tenant, reason)
            case .doubtful:
                try await self.askReceiver(reason, secrets)
                self.refusals.blame(event.tenant)
                self.tell(of: event.tenant, reason)
            }
        }
        self.reject(sent, reason, &progress)
    }

    /// Posts a body without hits. A receiver that refuses that too refuses whatever comes, as one
    /// with another secret may: then no hit is to blame.
    private func askReceiver(_ reason: String, _ secrets: WebhookSecrets) async throws {
        let response = try await self.post(self.events.body(of: 0..<0), secrets)
        switch response.answer(ids: [], now: self.clock.seconds()) {
        case .taken: return
        case .tooLong(let reason): throw WebhookFailure(reason)
        case .refused, .tooLarge:
            throw WebhookFailure(
                "\(self.configuration.maxRefusedInRow) hits in a row were refused and none was "
                    + "accepted, and [] is refused too, so the receiver may be wrong and not they: "
                    + "\(reason). Nothing more is refused until it accepts a hit, or []")
        case .unavailable(let reason, let wait):
            self.hold(reason, wait)
            throw WebhookFailure(reason)
        case .gone(let reason): throw WebhookGone(reason: reason)
        }
    }

    private func tell(of tenant: [UInt8], _ reason: String) {
        self.logger?.warning(
            """
            too many hits of a tenant are refused: a request of its hits that is refused becomes \
            dead letters whole, until one is accepted
            """,
            metadata: [
                "sink": "\(self.name)", "tenant": "\(String(decoding: tenant, as: UTF8.self))",
                "webhook.max_refused_in_row":
                    .stringConvertible(self.configuration.maxRefusedInRow),
                "reason": "\(reason)",
            ])
    }

    /// The reason for all hits of a request that was refused as a whole.
    private static func reason(_ reason: String, of count: Int) -> String {
        if count == 1 { return reason }
        return reason + ", or to another of the \(count) hits of its tenant in one request: more "
            + "than webhook.max_refused_in_row of them were refused before"
    }

    private func reject(
        _ sent: ArraySlice<WebhookEvents.Event>, _ reason: String,
        _ progress: inout WebhookProgress
    ) {
        let reasons = sent.map { ($0.position, reason) }
        progress.settle(
            sent.count, refused: Dictionary(uniqueKeysWithValues: reasons),
            limit: self.configuration.maxHits)
    }

    private func hold(_ reason: String, _ wait: WebhookAnswer.Wait) {
        let time: Duration
        switch wait {
        case .backoff: return
        case .seconds(let seconds):
            time = min(.seconds(min(seconds, 1 << 32)), self.configuration.maxRetryAfter)
        }
        self.hold = (self.clock.now() + time, reason)
    }
}

/// The receiver has answered 410.
private struct WebhookGone: Error {
    let reason: String
}

/// The times that the sink reads.
struct WebhookClock: Sendable {
    /// For waits.
    var now: @Sendable () -> ContinuousClock.Instant = { .now }
    /// For signatures: seconds since 1970.
    var seconds: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
}

/// Adds the trace of this delivery to a request's headers.
private struct TraceInjector: Injector {
    private static let names: Set = ["traceparent", "tracestate"]

    func inject(_ value: String, forKey key: String, into headers: inout [(String, String)]) {
        // No baggage: it is not the receiver's.
        if Self.names.contains(key) { headers.append((key, value)) }
    }
}
