#if NATS
// Hits as messages: a subject, CloudEvents' binary form in the headers, and the TrackingRecord.
internal import CNats
internal import SinkKit
internal import TrackingRules

/// Makes messages, with buffers that are used again.
struct NATSMessages {
    private let prefix: String
    private var hitID = MessageText()
    private var subject = MessageText()
    private var header = MessageText()

    /// Messages whose subjects begin with `prefix`.
    init(prefix: String) { self.prefix = prefix }

    /// Calls `body` with the last hit's id as C has it: by it the stream tells duplicates.
    mutating func withHitID<Value>(
        _ body: (UnsafePointer<CChar>?) throws -> Value
    ) rethrows -> Value {
        try self.hitID.withCString(body)
    }

    /// Makes the message of a hit; it is the caller's to destroy or to hand on.
    ///
    /// - Throws: `NATSError`.
    mutating func message(_ hit: Hit) throws -> OpaquePointer {
        self.hitID.clear()
        self.hitID.append(hitID: hit)
        self.writeSubject(hit)
        let record = hit.recordBytes()
        var message: OpaquePointer?
        let status = self.subject.withCString { subject in
            record.withUnsafeBytes { record in
                natsMsg_Create(
                    &message, subject, nil,
                    record.baseAddress?.assumingMemoryBound(to: CChar.self),
                    CInt(record.count))
            }
        }
        try NATSError.check("natsMsg_Create", status)
        guard let message else { throw NATSError("natsMsg_Create: no message") }
        do {
            try self.setHeaders(of: message, hit)
        } catch {
            natsMsg_Destroy(message)
            throw error
        }
        return message
    }

    private mutating func writeSubject(_ hit: Hit) {
        self.subject.clear()
        self.subject.append(self.prefix)
        self.subject.append(".")
        self.subject.append(token: hit.request.tenant)
        self.subject.append(".")
        self.subject.append(token: hit.appID)
        self.subject.append(".")
        self.subject.append(hit.kind.name)
        self.subject.append(".")
        self.subject.append(hit.campaignAction)
    }

    private mutating func setHeaders(of message: OpaquePointer, _ hit: Hit) throws {
        try self.set("traceparent", of: message) { $0.append(value: hit.request.traceparent) }
        if !hit.request.tracestate.isEmpty {
            try self.set("tracestate", of: message) { $0.append(value: hit.request.tracestate) }
        }
        try self.set("content-type", of: message) { $0.append("application/protobuf") }
        try self.set("ce-specversion", of: message) { $0.append("1.0") }
        let hitID = self.hitID.bytes
        try self.set("ce-id", of: message) { text in
            hitID.withUnsafeBytes { text.append(value: $0) }
        }
        try self.set("ce-source", of: message) { text in
            text.append("/sightline/")
            text.append(value: hit.request.tenant)
        }
        try self.set("ce-type", of: message) { text in
            text.append("sightline.v1.hit.")
            text.append(hit.kind.name)
        }
        try self.set("ce-subject", of: message) { $0.append(value: hit.deliveryID) }
        try self.set("ce-time", of: message) { $0.append(time: hit.request.receiveTime) }
    }

    private mutating func set(
        _ name: StaticString, of message: OpaquePointer, _ write: (inout MessageText) -> Void
    ) throws {
        self.header.clear()
        write(&self.header)
        let status = name.withUTF8Buffer { name in
            name.withMemoryRebound(to: CChar.self) { name in
                self.header.withCString { natsMsgHeader_Set(message, name.baseAddress, $0) }
            }
        }
        try NATSError.check("natsMsgHeader_Set", status)
    }
}
#endif
