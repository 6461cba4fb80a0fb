internal import ServiceContextModule
package import Tracing
package import W3CTrace
internal import WireFormat

/// The contents of a recorded span, within its limits.
package struct SpanRecord: Sendable {
    /// The span's trace context.
    package let context: TraceContext
    /// The parent span; nil at the root of a trace.
    package let parent: TraceContext?
    /// Whether the parent span belongs to another process.
    package let isParentRemote: Bool
    /// The span's role, such as server or client.
    package let kind: SpanKind
    /// When it started, in nanoseconds since 1970.
    package let startTime: UInt64
    /// When it ended, in nanoseconds since 1970; 0 before.
    package private(set) var endTime: UInt64 = 0
    /// The operation's name.
    package var name: String
    /// The span's attributes.
    package private(set) var attributes = BoundedAttributes()
    /// The span's events.
    package private(set) var events: [Event] = []
    /// The number of events omitted because of the limit.
    package private(set) var droppedEvents = 0
    /// The span's links to other spans.
    package private(set) var links: [Link] = []
    /// The number of links omitted because of the limit.
    package private(set) var droppedLinks = 0
    /// The status; nil if none was set.
    package private(set) var status: SpanStatus?
    private let limits: SpanLimits

    /// An event of a span.
    package struct Event: Sendable {
        /// The event's name.
        package let name: String
        /// When it happened, in nanoseconds since 1970.
        package let time: UInt64
        /// The event's attributes.
        package let attributes: BoundedAttributes
    }

    /// A link to another span.
    package struct Link: Sendable {
        /// The linked span's context, without its tracestate.
        package let context: TraceContext
        /// The link's attributes.
        package let attributes: BoundedAttributes
    }

    init(
        _ name: String, kind: SpanKind, context: TraceContext, parent: TraceContext?,
        isParentRemote: Bool, startTime: UInt64, limits: SpanLimits
    ) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        self.isParentRemote = isParentRemote
        self.startTime = startTime
        self.limits = limits
    }

    mutating func set(_ attributes: SpanAttributes) {
        self.attributes = BoundedAttributes(attributes, limits: self.limits)
    }

    mutating func add(_ event: SpanEvent) {
        guard self.events.count < self.limits.events else {
            self.droppedEvents += 1
            return
        }
        self.events.append(
            Event(
                name: event.name, time: event.nanosecondsSinceEpoch,
                attributes: BoundedAttributes(event.attributes, limits: self.limits)))
    }

    mutating func add(_ link: SpanLink) {
        // A link needs a span to point to.
        guard let context = link.context.traceContext else { return }
        guard self.links.count < self.limits.links else {
            self.droppedLinks += 1
            return
        }
        // Omit the tracestate, which may be ten times as large as the rest, and which the linked
        // span reports itself. So a batch with many links stays below the 4 MiB that receivers
        // accept.
        self.links.append(
            Link(
                context: context.withoutState,
                attributes: BoundedAttributes(link.attributes, limits: self.limits)))
    }

    /// `ok` is final, and an error replaces unset (OpenTelemetry's trace API, Set Status).
    mutating func set(_ status: SpanStatus) {
        if self.status?.code != .ok { self.status = status }
    }

    mutating func end(at time: UInt64) { self.endTime = max(time, self.startTime) }
}

/// Attributes, limited in their number and length.
package struct BoundedAttributes: Sendable {
    /// The attributes, sorted by name.
    package private(set) var list: [(name: String, value: SpanAttribute)] = []
    /// The number of omitted attributes; the last ones by name are omitted.
    package private(set) var dropped = 0

    init() {}

    init(_ attributes: SpanAttributes, limits: SpanLimits) {
        attributes.forEach { name, value in
            if !name.isEmpty { self.list.append((name, value.cut(to: limits.textCharacters))) }
        }
        self.list.sort { $0.name < $1.name }
        self.dropped = max(self.list.count - limits.attributes, 0)
        self.list.removeLast(self.dropped)
    }
}

extension SpanAttribute {
    /// The value with truncated texts; values of other types become text.
    fileprivate func cut(to count: Int) -> SpanAttribute {
        switch self {
        case .string(let text): .string(text.cut(toScalars: count))
        case .stringArray(let texts): .stringArray(texts.map { $0.cut(toScalars: count) })
        case .stringConvertible(let value): .string(value.description.cut(toScalars: count))
        case .stringConvertibleArray(let values):
            .stringArray(values.map { $0.description.cut(toScalars: count) })
        default: self
        }
    }
}
