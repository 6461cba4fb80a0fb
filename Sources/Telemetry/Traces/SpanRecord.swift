// A span's contents, until it has ended and after.
internal import ServiceContextModule
package import Tracing
package import TrackingCore

/// What a span holds, within its limits.
package struct SpanRecord: Sendable {
    /// Its place in its trace.
    package let context: TraceContext
    /// The span above it, nil at the root of a trace.
    package let parent: TraceContext?
    /// Whether the span above it is another process's.
    package let isParentRemote: Bool
    /// Its place between processes.
    package let kind: SpanKind
    /// Nanoseconds since 1970.
    package let startTime: UInt64
    /// Nanoseconds since 1970; 0 until it has ended.
    package private(set) var endTime: UInt64 = 0
    /// The operation.
    package var name: String
    /// What is known of it.
    package private(set) var attributes = BoundedAttributes()
    /// What happened in it.
    package private(set) var events: [Event] = []
    /// Events that the limit left out.
    package private(set) var droppedEvents = 0
    /// Other spans that it has to do with.
    package private(set) var links: [Link] = []
    /// Links that the limit left out.
    package private(set) var droppedLinks = 0
    /// How it ended; nil where nobody said.
    package private(set) var status: SpanStatus?
    private let limits: SpanLimits

    /// Something that happened in a span.
    package struct Event: Sendable {
        /// What happened.
        package let name: String
        /// Nanoseconds since 1970.
        package let time: UInt64
        /// What is known of it.
        package let attributes: BoundedAttributes
    }

    /// Points to another span.
    package struct Link: Sendable {
        /// Where to.
        package let context: TraceContext
        /// What is known of the link.
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
        // A link without a span points nowhere.
        guard let context = link.context.traceContext else { return }
        guard self.links.count < self.limits.links else {
            self.droppedLinks += 1
            return
        }
        // Without its tracestate, which may be ten times as long as all the rest, and which a span
        // of its own tells of: so a batch of spans with many links stays below the 4 MiB that
        // receivers take.
        self.links.append(
            Link(
                context: context.withoutState,
                attributes: BoundedAttributes(link.attributes, limits: self.limits)))
    }

    /// Ok is final, and an error outweighs silence (OpenTelemetry's trace API, Set Status).
    mutating func set(_ status: SpanStatus) {
        if self.status?.code != .ok { self.status = status }
    }

    mutating func end(at time: UInt64) { self.endTime = max(time, self.startTime) }
}

/// Attributes within the limits of their number and their texts.
package struct BoundedAttributes: Sendable {
    /// The attributes, sorted by their names.
    package private(set) var list: [(name: String, value: SpanAttribute)] = []
    /// Attributes that the limit left out: the last by their names.
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
    /// The value with its texts cut; what only describes itself becomes text.
    fileprivate func cut(to count: Int) -> SpanAttribute {
        switch self {
        case .string(let text): .string(String(text.prefix(count)))
        case .stringArray(let texts): .stringArray(texts.map { String($0.prefix(count)) })
        case .stringConvertible(let value): .string(String(value.description.prefix(count)))
        case .stringConvertibleArray(let values):
            .stringArray(values.map { String($0.description.prefix(count)) })
        default: self
        }
    }
}
