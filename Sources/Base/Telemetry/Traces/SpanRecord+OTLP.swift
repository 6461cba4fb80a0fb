internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import Tracing
internal import W3CTrace

private typealias Attribute = Opentelemetry_Proto_Common_V1_KeyValue

extension Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceRequest {
    /// Encodes a batch of spans of one resource.
    init(_ spans: [SpanRecord], resource: TraceResource) {
        let attributes = resource.attributes.sorted { $0.key < $1.key }
        self = .with { request in
            request.resourceSpans = [
                .with { resourceSpans in
                    resourceSpans.resource.attributes = attributes.map { name, value in
                        .with {
                            $0.key = name
                            $0.value.stringValue = value
                        }
                    }
                    resourceSpans.schemaURL = TraceResource.schemaURL
                    resourceSpans.scopeSpans = [
                        .with { scopeSpans in
                            scopeSpans.scope.name = "sightline"
                            scopeSpans.scope.version = resource.serviceVersion
                            scopeSpans.schemaURL = TraceResource.schemaURL
                            scopeSpans.spans = spans.map { .init($0) }
                        }
                    ]
                }
            ]
        }
    }
}

extension Opentelemetry_Proto_Trace_V1_Span {
    fileprivate init(_ record: SpanRecord) {
        self = .with { span in
            span.traceID = record.context.traceID.bytes
            span.spanID = record.context.spanID.bytes
            span.traceState = record.context.tracestate
            span.parentSpanID = record.parent?.spanID.bytes ?? Data()
            span.flags = record.context.flags(isRemote: record.isParentRemote)
            span.name = record.name
            span.kind = .init(record.kind)
            span.startTimeUnixNano = record.startTime
            span.endTimeUnixNano = record.endTime
            span.attributes = record.attributes.messages
            span.droppedAttributesCount = UInt32(clamping: record.attributes.dropped)
            span.events = record.events.map { event in
                .with {
                    $0.timeUnixNano = event.time
                    $0.name = event.name
                    $0.attributes = event.attributes.messages
                    $0.droppedAttributesCount = UInt32(clamping: event.attributes.dropped)
                }
            }
            span.droppedEventsCount = UInt32(clamping: record.droppedEvents)
            span.links = record.links.map { link in
                .with {
                    $0.traceID = link.context.traceID.bytes
                    $0.spanID = link.context.spanID.bytes
                    $0.attributes = link.attributes.messages
                    $0.droppedAttributesCount = UInt32(clamping: link.attributes.dropped)
                    $0.flags = link.context.flags(isRemote: true)
                }
            }
            span.droppedLinksCount = UInt32(clamping: record.droppedLinks)
            if let status = record.status {
                span.status.code = status.code == .ok ? .ok : .error
                // Only errors have a message (OpenTelemetry's trace API, Set Status).
                if status.code == .error { span.status.message = status.message ?? "" }
            }
        }
    }
}

extension Opentelemetry_Proto_Trace_V1_Span.SpanKind {
    fileprivate init(_ kind: SpanKind) {
        self =
            switch kind {
            case .server: .server
            case .client: .client
            case .producer: .producer
            case .consumer: .consumer
            case .internal: .internal
            }
    }
}

extension BoundedAttributes {
    fileprivate var messages: [Attribute] {
        self.list.compactMap { name, value in
            value.message.map { message in
                .with {
                    $0.key = name
                    $0.value = message
                }
            }
        }
    }
}

extension SpanAttribute {
    /// Nil for a value without an OTLP type.
    fileprivate var message: Opentelemetry_Proto_Common_V1_AnyValue? {
        switch self {
        case .int32(let value): .with { $0.intValue = Int64(value) }
        case .int64(let value): .with { $0.intValue = value }
        case .double(let value): .with { $0.doubleValue = value }
        case .bool(let value): .with { $0.boolValue = value }
        case .string(let value): .with { $0.stringValue = value }
        case .int32Array(let values): .list(values.map { .int64(Int64($0)) })
        case .int64Array(let values): .list(values.map { .int64($0) })
        case .doubleArray(let values): .list(values.map { .double($0) })
        case .boolArray(let values): .list(values.map { .bool($0) })
        case .stringArray(let values): .list(values.map { .string($0) })
        default: nil
        }
    }
}

extension Opentelemetry_Proto_Common_V1_AnyValue {
    fileprivate static func list(_ values: [SpanAttribute]) -> Self {
        .with { $0.arrayValue.values = values.compactMap(\.message) }
    }
}

extension TraceContext {
    /// The W3C flags, with OTLP's bits that say whether the linked or parent span is remote. That
    /// is always known here.
    fileprivate func flags(isRemote: Bool) -> UInt32 {
        (self.isSampled ? 1 : 0) | 1 << 8 | (isRemote ? 1 << 9 : 0)
    }
}

extension TraceContext.TraceID {
    fileprivate var bytes: Data { self.high.bytes + self.low.bytes }
}

extension UInt64 {
    /// The big-endian bytes.
    fileprivate var bytes: Data { Swift.withUnsafeBytes(of: self.bigEndian) { Data($0) } }
}
