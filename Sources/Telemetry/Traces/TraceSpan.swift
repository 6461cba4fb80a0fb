// A span of swift-distributed-tracing, from its start to its end.
package import ServiceContextModule
internal import Synchronization
package import Tracing

/// A span; recorded only where the sampler has said so.
package final class TraceSpan: Span {
    /// Carries the span to those that it starts.
    package let context: ServiceContext
    private let queue: SpanQueue
    /// Nil where the span is not recorded, or has ended.
    private let record: Mutex<SpanRecord?>

    /// A span with its contents so far; nil where it is not recorded.
    init(_ record: SpanRecord?, context: ServiceContext, queue: SpanQueue) {
        self.context = context
        self.queue = queue
        self.record = Mutex(record)
    }

    /// Whether what is told to it is kept: until its end, and never where it is not sampled.
    package var isRecording: Bool { self.record.withLock { $0 != nil } }

    /// The operation; empty where the span is not recorded.
    package var operationName: String {
        get { self.record.withLock { $0?.name } ?? "" }
        set { self.record.withLock { $0?.name = newValue } }
    }

    /// What is known of it; empty where the span is not recorded.
    package var attributes: SpanAttributes {
        get {
            let list = self.record.withLock { $0?.attributes.list } ?? []
            return SpanAttributes(
                Dictionary(
                    list.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }))
        }
        set { self.record.withLock { $0?.set(newValue) } }
    }

    /// Says how the operation ended.
    package func setStatus(_ status: SpanStatus) { self.record.withLock { $0?.set(status) } }

    /// Adds something that happened.
    package func addEvent(_ event: SpanEvent) { self.record.withLock { $0?.add(event) } }

    /// Adds a link to another span.
    package func addLink(_ link: SpanLink) { self.record.withLock { $0?.add(link) } }

    /// Adds an error as an event `exception`, as the semantic conventions name it.
    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var attributes = attributes
        attributes["exception.type"] = String(reflecting: type(of: error))
        attributes["exception.message"] = "\(error)"
        self.addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    /// Ends the span, and hands it to the exporter's queue. A second end changes nothing.
    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let ended = self.record.withLock { record in
            defer { record = nil }
            return record
        }
        guard var ended else { return }
        ended.end(at: instant().nanosecondsSinceEpoch)
        self.queue.add(ended)
    }
}
