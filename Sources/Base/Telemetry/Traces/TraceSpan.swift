package import ServiceContextModule
internal import Synchronization
package import Tracing

/// A span of swift-distributed-tracing, recorded only if it is sampled.
package final class TraceSpan: Span {
    /// The context for children of the span.
    package let context: ServiceContext
    private let queue: SpanQueue
    /// Nil if the span is not recorded, or has ended.
    private let record: Mutex<SpanRecord?>

    /// Creates a span; a nil record makes it unrecorded.
    init(_ record: SpanRecord?, context: ServiceContext, queue: SpanQueue) {
        self.context = context
        self.queue = queue
        self.record = Mutex(record)
    }

    /// Whether changes are recorded: only for a sampled span that has not ended.
    package var isRecording: Bool { self.record.withLock { $0 != nil } }

    /// The operation's name; empty if the span is not recorded.
    package var operationName: String {
        get { self.record.withLock { $0?.name } ?? "" }
        set { self.record.withLock { $0?.name = newValue } }
    }

    /// The attributes; empty if the span is not recorded.
    package var attributes: SpanAttributes {
        get {
            let list = self.record.withLock { $0?.attributes.list } ?? []
            return SpanAttributes(
                Dictionary(
                    list.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }))
        }
        set { self.record.withLock { $0?.set(newValue) } }
    }

    /// Sets the status of the operation.
    package func setStatus(_ status: SpanStatus) { self.record.withLock { $0?.set(status) } }

    /// Adds an event to the span.
    package func addEvent(_ event: SpanEvent) { self.record.withLock { $0?.add(event) } }

    /// Adds a link to another span.
    package func addLink(_ link: SpanLink) { self.record.withLock { $0?.add(link) } }

    /// Adds an error as an `exception` event, as the semantic conventions define.
    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var attributes = attributes
        attributes["exception.type"] = String(reflecting: type(of: error))
        attributes["exception.message"] = "\(error)"
        self.addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    /// Ends the span and queues it for export. A second call does nothing.
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
