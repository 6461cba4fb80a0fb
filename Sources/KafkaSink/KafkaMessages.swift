// Hits as messages: a key, CloudEvents' attributes in the headers, and the TrackingRecord.
internal import CRdKafka
internal import TrackingCore
internal import TrackingSinks

/// Makes the parts of messages, with buffers that are used again.
struct KafkaMessages {
    private let keyKind: KafkaConfiguration.MessageKey
    private var hitID = MessageText()
    private var header = MessageText()
    /// An event's hits follow each other: it is read once for all of them.
    private var event: EventView?

    init(key: KafkaConfiguration.MessageKey) { self.keyKind = key }

    /// Drops the cached event, which points into the batch.
    mutating func endBatch() { self.event = nil }

    /// Calls `body` with a hit's key, value and headers. The headers are `body`'s to destroy or to
    /// hand on; the bytes are valid until it returns.
    ///
    /// - Throws: what a hit throws that has no record.
    mutating func withMessage<Value>(
        of hit: Hit, _ body: (_ key: Bytes, _ value: Bytes, _ headers: OpaquePointer) -> Value
    ) throws -> Value {
        let event = try self.view(of: hit)
        self.hitID.clear()
        self.hitID.append(hitID: hit)
        let record = try hit.recordBytes()
        guard let headers = rd_kafka_headers_new(10) else {
            throw KafkaFailure("librdkafka has no room for headers")
        }
        self.fill(headers, hit, event)
        return record.withUnsafeBytes { value in
            let hasNotification = self.keyKind == .notification && !event.broadlogID.isEmpty
            if hasNotification { return body(event.broadlogID, value, headers) }
            return self.hitID.bytes.withUnsafeBytes { body($0, value, headers) }
        }
    }

    private mutating func view(of hit: Hit) throws -> EventView {
        if let event = self.event, event.bytes.baseAddress == hit.event.baseAddress {
            return event
        }
        let event = try EventView(hit.event)
        self.event = event
        return event
    }

    /// The headers that the nats sink gives its messages, but for the id by which a stream tells
    /// duplicates.
    private mutating func fill(_ headers: OpaquePointer, _ hit: Hit, _ event: EventView) {
        self.add("traceparent", to: headers) { $0.append(value: hit.origin.traceparent) }
        if !hit.origin.tracestate.isEmpty {
            self.add("tracestate", to: headers) { $0.append(value: hit.origin.tracestate) }
        }
        self.add("content-type", to: headers) { $0.append("application/protobuf") }
        self.add("ce-specversion", to: headers) { $0.append("1.0") }
        self.add("ce-id", to: headers) { $0.append(hitID: hit) }
        self.add("ce-source", to: headers) { text in
            text.append("/sightline/")
            text.append(value: hit.origin.tenant)
        }
        self.add("ce-type", to: headers) { text in
            text.append("sightline.v1.hit.")
            text.append(hit.kind.name)
        }
        self.add("ce-subject", to: headers) { $0.append(value: event.deliveryID) }
        self.add("ce-time", to: headers) { $0.append(time: hit.origin.receiveTime) }
    }

    private mutating func add(
        _ name: StaticString, to headers: OpaquePointer, _ write: (inout MessageText) -> Void
    ) {
        self.header.clear()
        write(&self.header)
        name.withUTF8Buffer { name in
            name.withMemoryRebound(to: CChar.self) { name in
                self.header.bytes.withUnsafeBytes { value in
                    // It refuses only headers that are read-only.
                    _ = rd_kafka_header_add(
                        headers, name.baseAddress, name.count, value.baseAddress, value.count)
                }
            }
        }
    }
}
