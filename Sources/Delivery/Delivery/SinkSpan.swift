// The span of one try to deliver a batch, through swift-distributed-tracing: any backend may be
// bootstrapped.
internal import Instrumentation
internal import ServiceContextModule
internal import SinkKit
internal import Tracing
internal import TrackingRules
internal import W3CTrace

/// Records a span per delivery with the bootstrapped tracer of swift-distributed-tracing. Names
/// follow OpenTelemetry's semantic conventions 1.45: for databases where the backend is one, else
/// for messaging.
struct SinkSpan: Sendable {
    private let tracer: any Tracer
    private let sink: String
    private let database: String?
    private let maxLinks: Int

    /// Creates the recorder; nil if no tracer is bootstrapped.
    ///
    /// - Parameters:
    ///   - database: `db.system.name`; nil if the backend is no database.
    ///   - maxLinks: the maximum number of requests that a span links to.
    init?(sink: String, database: String? = nil, maxLinks: Int) {
        let tracer = InstrumentationSystem.tracer
        guard !(tracer is NoOpTracer) else { return nil }
        self.tracer = tracer
        self.sink = sink
        self.database = database
        self.maxLinks = maxLinks
    }

    /// Delivers a batch within a span: each attempt has its own, so that an outage is visible while
    /// it lasts.
    func record(
        _ hits: HitBatch, _ deliver: () async -> SinkAnswer
    ) async -> SinkAnswer {
        let span: any Span = self.tracer.startSpan(
            self.name(of: hits), context: self.parent(of: hits), ofKind: .client)
        if span.isRecording { self.describe(span, hits) }
        let answer = await ServiceContext.withValue(span.context) { await deliver() }
        switch answer {
        case .delivered: break
        case .unavailable(let reason), .progressed(let reason):
            Self.fail(span, "unavailable", reason)
        case .suspended(let reason): Self.fail(span, "gone", reason)
        case .unreadable(let reason): Self.fail(span, "undeliverable", reason)
        case .dataLoss(let reason): Self.fail(span, "lost", reason)
        case .rejected(let reasons):
            // A reason may have the backend's own words: it is kept with its hit alone.
            Self.fail(span, "rejected", nil)
            span.attributes["sightline.delivery.rejected"] = reasons.count
        }
        span.end()
        return answer
    }

    private static func fail(_ span: any Span, _ type: String, _ message: String?) {
        span.attributes["error.type"] = type
        span.setStatus(SpanStatus(code: .error, message: message))
    }

    /// If all requests belong to one trace, the span is a child of the first request's span.
    /// Otherwise it starts a trace of its own and links to each request, as the semantic
    /// conventions for batches ask.
    private func parent(of hits: HitBatch) -> ServiceContext {
        var parent: TraceContext?
        var isOneTrace = true
        hits.payload.withUnsafeBytes { payload in
            HitEncoding.forEachTrace(in: payload) { trace in
                parent = parent ?? trace
                isOneTrace = trace.traceID == parent?.traceID
                return isOneTrace
            }
        }
        return isOneTrace ? self.context(of: parent) : .topLevel
    }

    private func describe(_ span: any Span, _ hits: HitBatch) {
        var requests = 0
        var links = 0
        hits.payload.withUnsafeBytes { payload in
            HitEncoding.forEachTrace(in: payload) { trace in
                requests += 1
                // An unsampled span was not recorded, so a link to it would lead nowhere.
                if trace.isSampled, links < self.maxLinks {
                    links += 1
                    span.addLink(SpanLink(context: self.context(of: trace), attributes: [:]))
                }
                return true
            }
        }
        span.updateAttributes { attributes in
            if let database {
                attributes["db.system.name"] = database
                attributes["db.operation.name"] = Self.operation(hits)
                attributes["db.collection.name"] = Self.collection
                if hits.hitCount > 1 { attributes["db.operation.batch.size"] = hits.hitCount }
            } else {
                attributes["messaging.system"] = self.sink
                attributes["messaging.operation.name"] = "send"
                attributes["messaging.operation.type"] = "send"
                attributes["messaging.destination.name"] = self.sink
                attributes["messaging.batch.message_count"] = hits.eventCount
            }
            attributes["sightline.delivery.sink"] = self.sink
            attributes["sightline.delivery.events"] = hits.eventCount
            attributes["sightline.delivery.requests"] = requests
            attributes["sightline.delivery.sequence"] = Int(hits.sequence)
            attributes["sightline.delivery.groups"] = hits.groups.count
        }
    }

    /// The table that databases keep hits in.
    private static let collection = "hits"

    private func name(of hits: HitBatch) -> String {
        self.database == nil
            ? "send \(self.sink)" : "\(Self.operation(hits)) \(Self.collection)"
    }

    private static func operation(_ hits: HitBatch) -> String {
        hits.hitCount > 1 ? "BATCH INSERT" : "INSERT"
    }

    private func context(of trace: TraceContext?) -> ServiceContext {
        var service = ServiceContext.topLevel
        guard let trace else { return service }
        var headers = ["traceparent": trace.traceparent]
        if !trace.tracestate.isEmpty { headers["tracestate"] = trace.tracestate }
        self.tracer.extract(headers, into: &service, using: HeaderReader())
        return service
    }
}

private struct HeaderReader: Extractor {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
}
