#if Kafka
// Hits as messages: a key, CloudEvents' attributes in the headers, and the TrackingRecord.
internal import CRdKafka
internal import SinkKit
internal import TrackingRules
internal import WireFormat

/// Makes the parts of messages, with buffers that are used again.
struct KafkaMessages {
    private let keyKind: KafkaConfiguration.MessageKey
    private var hitID = MessageText()
    private var writer = RecordWriter()
    private var record: [UInt8] = []
    /// What the hits of a request share, and those of an event, written once for all of them.
    private var request: SharedHeaders?
    private var event: (bytes: UnsafeRawPointer?, subject: [UInt8])?

    private struct SharedHeaders {
        let origin: Hit.Request
        let traceparent: [UInt8]
        let tracestate: [UInt8]
        let source: [UInt8]
        let time: [UInt8]
    }

    init(key: KafkaConfiguration.MessageKey) { self.keyKind = key }

    /// Drops what points into the batch.
    mutating func endBatch() {
        (self.request, self.event) = (nil, nil)
        self.writer.endBatch()
    }

    /// Calls `body` with a hit's key, value and headers. The headers are `body`'s to destroy or to
    /// hand on; the bytes are valid until it returns.
    ///
    /// - Throws: `KafkaFailure` if the library has no room for headers.
    mutating func withMessage<Value>(
        of hit: Hit, _ body: (_ key: Bytes, _ value: Bytes, _ headers: OpaquePointer) -> Value
    ) throws -> Value {
        let subject = self.subject(of: hit)
        let request = self.request(of: hit)
        self.hitID.clear()
        self.hitID.append(hitID: hit)
        self.record.removeAll(keepingCapacity: true)
        _ = self.writer.prepare(hit)
        self.writer.append(hit, to: &self.record)
        guard let headers = rd_kafka_headers_new(9) else {
            throw KafkaFailure("librdkafka has no room for headers")
        }
        Self.add("traceparent", request.traceparent, to: headers)
        if !request.tracestate.isEmpty {
            Self.add("tracestate", request.tracestate, to: headers)
        }
        Self.add("content-type", Self.contentType, to: headers)
        Self.add("ce-specversion", Self.version, to: headers)
        Self.add("ce-id", self.hitID.bytes, to: headers)
        Self.add("ce-source", request.source, to: headers)
        Self.add("ce-type", Self.types[Int(hit.kind.rawValue)], to: headers)
        Self.add("ce-subject", subject, to: headers)
        Self.add("ce-time", request.time, to: headers)
        let broadlogID = hit.broadlogID
        let hasNotification = self.keyKind == .notification && !broadlogID.isEmpty
        return self.record.withUnsafeBytes { value in
            if hasNotification { return body(broadlogID, value, headers) }
            return self.hitID.bytes.withUnsafeBytes { body($0, value, headers) }
        }
    }

    private mutating func subject(of hit: Hit) -> [UInt8] {
        let place = UnsafeRawPointer(hit.event.baseAddress)
        if let event, event.bytes == place { return event.subject }
        let subject = Self.bytes { $0.append(value: hit.deliveryID) }
        self.event = (place, subject)
        return subject
    }

    private mutating func request(of hit: Hit) -> SharedHeaders {
        // The journal has a request's tenant once.
        let origin = hit.request
        if let request, request.origin.tenant.baseAddress == origin.tenant.baseAddress {
            return request
        }
        let request = SharedHeaders(
            origin: origin,
            traceparent: Self.bytes { $0.append(value: origin.traceparent) },
            tracestate: Self.bytes { $0.append(value: origin.tracestate) },
            source: Self.bytes { text in
                text.append("/sightline/")
                text.append(value: origin.tenant)
            },
            time: Self.bytes { $0.append(time: origin.receiveTime) })
        self.request = request
        return request
    }

    private static let contentType = [UInt8]("application/protobuf".utf8)
    private static let version = [UInt8]("1.0".utf8)
    /// By the kinds' numbers.
    private static let types: [[UInt8]] = {
        let last = HitKind.allCases.map(\.rawValue).max() ?? 0
        return (0...last).map { number in
            let name = HitKind(rawValue: number).map { "\($0.name)" } ?? ""
            return [UInt8]("sightline.v1.hit.\(name)".utf8)
        }
    }()

    private static func bytes(_ write: (inout MessageText) -> Void) -> [UInt8] {
        var text = MessageText()
        write(&text)
        return text.bytes
    }

    private static func add(_ name: StaticString, _ value: [UInt8], to headers: OpaquePointer) {
        name.withUTF8Buffer { name in
            name.withMemoryRebound(to: CChar.self) { name in
                value.withUnsafeBytes { value in
                    // It refuses only headers that are read-only.
                    _ = rd_kafka_header_add(
                        headers, name.baseAddress, name.count, value.baseAddress, value.count)
                }
            }
        }
    }
}
#endif
