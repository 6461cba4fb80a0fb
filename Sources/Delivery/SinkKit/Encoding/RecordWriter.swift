package import TrackingRules
internal import WireFormat

/// Writes hits as TrackingRecords, straight from the events' bytes: unknown fields are kept. By
/// hand, because sinks do so for each hit, and SwiftProtobuf makes strings of all fields first.
/// Tests compare the bytes. What the hits of one event share is written once.
package struct RecordWriter {
    /// The fields from the delivery id on.
    private var shared: [UInt8] = []
    /// The event that they are of; each has a place of its own in a batch.
    private var event: UnsafeRawPointer?
    /// The fields that the hits of one request share: its time, tenant and trace.
    private var origin: [UInt8] = []
    /// The request that they are of.
    private var request: UnsafeRawPointer?

    /// Creates a writer. It has buffers that are used again.
    package init() {}

    /// Forgets the last event, which points into a batch. Call it between two batches.
    package mutating func endBatch() { (self.event, self.request) = (nil, nil) }

    /// Prepares to append a hit.
    ///
    /// - Returns: the number of bytes of its record.
    package mutating func prepare(_ hit: Hit) -> Int {
        if self.event == nil || self.event != hit.event.baseAddress {
            self.shared.removeAll(keepingCapacity: true)
            self.shared.appendText(FieldTag.TrackingRecord.deliveryID, hit.deliveryID)
            self.shared.appendText(FieldTag.TrackingRecord.broadlogID, hit.broadlogID)
            self.shared.append(contentsOf: self.originBytes(hit.request))
            let warnings = hit.warnings.isEmpty ? [] : hit.warnings.numbers
            if !warnings.isEmpty {
                // All of them are below 128: a byte each, packed.
                self.shared.appendField(FieldTag.TrackingRecord.warnings, warnings)
            }
            self.shared.appendNumber(
                FieldTag.TrackingRecord.source, UInt64(hit.source.rawValue))
            self.shared.appendField(FieldTag.TrackingRecord.event, hit.event)
            self.event = hit.event.baseAddress
        }
        let action = UInt64(hit.campaignAction)
        return 2 + 16 + 2 + (action == 0 ? 0 : 1 + action.varintCount) + self.shared.count
    }

    private mutating func originBytes(_ origin: Hit.Request) -> [UInt8] {
        let request = UnsafeRawPointer(origin.traceparent.baseAddress)
        if request == nil || request != self.request {
            self.origin.removeAll(keepingCapacity: true)
            self.origin.appendOrigin(origin)
            self.request = request
        }
        return self.origin
    }

    /// Appends the record of the hit that was prepared last.
    package func append(_ hit: Hit, to bytes: inout [UInt8]) {
        bytes.appendHead(FieldTag.TrackingRecord.hitID, count: 16)
        bytes.appendBigEndian(hit.key.high)
        bytes.appendBigEndian(hit.key.low | UInt64(hit.kind.rawValue))
        bytes.appendNumber(FieldTag.TrackingRecord.kind, UInt64(hit.kind.rawValue))
        bytes.appendNumber(FieldTag.TrackingRecord.campaignAction, UInt64(hit.campaignAction))
        bytes.append(contentsOf: self.shared)
    }
}

extension [UInt8] {
    fileprivate mutating func appendBigEndian(_ value: UInt64) {
        Swift.withUnsafeBytes(of: value.bigEndian) { self.append(contentsOf: $0) }
    }

    fileprivate mutating func appendText(_ tag: UInt32, _ text: Bytes) {
        if !text.isEmpty { self.appendField(tag, text) }
    }

    /// Appends text that nobody has checked to be UTF-8, which a receiver would refuse.
    private mutating func appendRepaired(_ tag: UInt32, _ text: Bytes) {
        if text.allSatisfy({ $0 < 0x80 }) { return self.appendText(tag, text) }
        text.text.withBytes { self.appendText(tag, $0) }
    }

    /// receive_time, tenant and trace_context; both messages are there also if they are empty.
    fileprivate mutating func appendOrigin(_ origin: Hit.Request) {
        typealias Record = FieldTag.TrackingRecord
        var part: [UInt8] = []
        part.appendNumber(
            FieldTag.Timestamp.seconds, UInt64(bitPattern: origin.receiveTime / 1_000_000))
        part.appendNumber(
            FieldTag.Timestamp.nanos, UInt64(bitPattern: origin.receiveTime % 1_000_000 * 1000))
        self.appendField(Record.receiveTime, part)
        self.appendRepaired(Record.tenant, origin.tenant)
        part.removeAll(keepingCapacity: true)
        part.appendRepaired(FieldTag.TraceContext.traceparent, origin.traceparent)
        part.appendRepaired(FieldTag.TraceContext.tracestate, origin.tracestate)
        self.appendField(Record.traceContext, part)
    }
}
