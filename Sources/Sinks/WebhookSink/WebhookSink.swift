// The sink for a receiver over HTTP: CloudEvents in JSON, signed as Standard Webhooks has it.
internal import Crypto
internal import Foundation
internal import Instrumentation
internal import ServiceContextModule
internal import Pacing
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
    var events: WebhookEvents
    private var progress: WebhookProgress?
    /// Until when nothing is sent, and why.
    private var hold: (end: ContinuousClock.Instant, reason: String)?
    /// The largest body that the receiver takes, as far as it has told.
    private var maxBytes: Int
    /// Hits that have become dead letters by a status since one was accepted.
    private var refusedInRow = 0

    /// A sink that connects with its first batch.
    ///
    /// - Throws: an error that names the key, if the URL or the file of secrets cannot be used.
    package init(_ configuration: WebhookConfiguration) throws {
        try self.init(configuration, clock: WebhookClock(), lookup: WebhookResolver.system)
    }

    /// - Parameters:
    ///   - clock: tests substitute it.
    ///   - lookup: finds a host's addresses; tests substitute it.
    init(
        _ configuration: WebhookConfiguration, clock: WebhookClock,
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
        let events = self.events.events
        let part = WebhookPart.first(
            of: events[progress.settled...], hits: progress.maxHits, bytes: self.maxBytes)
        let sent = events[part]
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
            self.refusedInRow = 0
            let reasons = sent.compactMap { event in
                refused[event.id].map { (event.position, $0) }
            }
            progress.settle(
                sent.count,
                refused: Dictionary(uniqueKeysWithValues: reasons),
                limit: self.configuration.maxHits)
        case .refused(let reason):
            if sent.count > 1 { return progress.halve(sent.count) }
            try self.refuse(sent, reason, &progress)
        case .tooLarge(let reason):
            if sent.count > 1 { return self.maxBytes = size / 2 }
            try self.refuse(sent, reason, &progress)
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

    /// Makes a hit a dead letter, unless so many have become that rather the receiver is wrong.
    private func refuse(
        _ sent: ArraySlice<WebhookEvents.Event>, _ reason: String,
        _ progress: inout WebhookProgress
    ) throws {
        guard self.refusedInRow < self.configuration.maxRefusedInRow else {
            throw WebhookFailure(
                "\(self.refusedInRow) hits in a row were refused and none was accepted, so the "
                    + "receiver may be wrong and not they: \(reason). Nothing more is refused "
                    + "until it accepts one, or webhook.max_refused_in_row is raised")
        }
        self.refusedInRow += 1
        self.reject(sent, reason, &progress)
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
