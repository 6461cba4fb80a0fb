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
            self.shared.appendText(4, hit.deliveryID)
            self.shared.appendText(5, hit.broadlogID)
            self.shared.append(contentsOf: self.originBytes(hit.origin))
            if !hit.warnings.isEmpty { self.shared.appendPacked(9, hit.warnings.numbers) }
            self.shared.appendTag(15)
            self.shared.appendVarint(UInt64(hit.event.count))
            self.shared.append(contentsOf: hit.event)
            self.event = hit.event.baseAddress
        }
        let action = UInt64(hit.campaignAction)
        return 2 + 16 + 2 + (action == 0 ? 0 : 1 + action.varintCount) + self.shared.count
    }

    private mutating func originBytes(_ origin: Hit.Origin) -> [UInt8] {
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
        bytes.appendTag(1)
        bytes.append(16)
        bytes.appendBigEndian(hit.key.high)
        bytes.appendBigEndian(hit.key.low | UInt64(hit.kind.rawValue))
        bytes.append(2 << 3)
        bytes.append(hit.kind.rawValue)
        if hit.campaignAction != 0 {
            bytes.append(3 << 3)
            bytes.appendVarint(UInt64(hit.campaignAction))
        }
        bytes.append(contentsOf: self.shared)
    }
}

extension UInt64 {
    /// The number of bytes of its varint.
    package var varintCount: Int { Swift.max(1, (64 - self.leadingZeroBitCount + 6) / 7) }
}

extension [UInt8] {
    /// Appends the tag of a length-delimited field with a number up to 15.
    package mutating func appendTag(_ field: UInt8) { self.append(field << 3 | 2) }

    /// Appends a varint.
    package mutating func appendVarint(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            self.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        self.append(UInt8(truncatingIfNeeded: value))
    }

    /// Appends a varint field, which is left out if it is 0.
    package mutating func appendNumber(_ field: UInt8, _ value: UInt64) {
        if value == 0 { return }
        self.append(field << 3)
        self.appendVarint(value)
    }

    fileprivate mutating func appendBigEndian(_ value: UInt64) {
        Swift.withUnsafeBytes(of: value.bigEndian) { self.append(contentsOf: $0) }
    }

    fileprivate mutating func appendText(_ field: UInt8, _ text: Bytes) {
        if text.isEmpty { return }
        self.appendTag(field)
        self.appendVarint(UInt64(text.count))
        self.append(contentsOf: text)
    }

    /// Appends text that nobody has checked to be UTF-8, which a receiver would refuse.
    private mutating func appendRepaired(_ field: UInt8, _ text: Bytes) {
        if text.allSatisfy({ $0 < 0x80 }) { return self.appendText(field, text) }
        text.text.withBytes { self.appendText(field, $0) }
    }

    fileprivate mutating func appendPacked(_ field: UInt8, _ numbers: [UInt8]) {
        if numbers.isEmpty { return }
        // All of them are below 16: a byte each.
        self.appendTag(field)
        self.appendVarint(UInt64(numbers.count))
        self.append(contentsOf: numbers)
    }

    /// receive_time, tenant and trace_context; both messages are there also if they are empty.
    fileprivate mutating func appendOrigin(_ origin: Hit.Origin) {
        var part: [UInt8] = []
        part.appendNumber(1, UInt64(bitPattern: origin.receiveTime / 1_000_000))
        part.appendNumber(2, UInt64(bitPattern: origin.receiveTime % 1_000_000 * 1000))
        self.appendTag(6)
        self.append(UInt8(part.count))
        self.append(contentsOf: part)
        self.appendRepaired(7, origin.tenant)
        part.removeAll(keepingCapacity: true)
        part.appendRepaired(1, origin.traceparent)
        part.appendRepaired(2, origin.tracestate)
        self.appendTag(8)
        self.appendVarint(UInt64(part.count))
        self.append(contentsOf: part)
    }
}
