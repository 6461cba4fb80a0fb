package import SightlineProtos
internal import SwiftProtobuf
package import TrackingCore

extension Hit {
    /// Encodes the TrackingRecord.
    ///
    /// - Throws: `WireError` if the event is malformed, which Admission excludes.
    package func recordBytes() throws -> [UInt8] {
        var bytes: [UInt8] = []
        self.appendRecord(of: try EventView(self.event), to: &bytes)
        return bytes
    }

    /// Appends the TrackingRecord. The event is appended as field 15 without decoding it, so that
    /// unknown fields are kept. Written by hand, because sinks do so for each hit: SwiftProtobuf
    /// would make strings of all fields first. Tests compare its bytes.
    ///
    /// - Parameter event: the hit's event.
    package func appendRecord(of event: EventView, to bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + self.event.count + 512)
        bytes.append(1 << 3 | 2)
        bytes.append(16)
        self.key.withHitID(self.kind) { bytes.append(contentsOf: $0) }
        bytes.append(number: UInt64(self.kind.rawValue), field: 2)
        bytes.append(number: UInt64(self.campaignAction), field: 3)
        bytes.append(text: event.deliveryID, field: 4)
        bytes.append(text: event.broadlogID, field: 5)
        bytes.append(message: 6) { time in
            let (seconds, microseconds) = self.origin.receiveTime.quotientAndRemainder(
                dividingBy: 1_000_000)
            time.append(number: UInt64(bitPattern: seconds), field: 1)
            time.append(number: UInt64(bitPattern: microseconds * 1000), field: 2)
        }
        bytes.append(text: self.origin.tenant, field: 7)
        bytes.append(message: 8) { trace in
            trace.append(text: self.origin.traceparent, field: 1)
            trace.append(text: self.origin.tracestate, field: 2)
        }
        let warnings = self.warnings.numbers
        if !warnings.isEmpty {
            // Packed; each number is one byte.
            warnings.withUnsafeBytes { bytes.append(text: $0, field: 9) }
        }
        bytes.append(15 << 3 | 2)
        bytes.append(varint: UInt64(self.event.count))
        bytes.append(contentsOf: self.event)
    }

    /// The TrackingRecord, decoded.
    ///
    /// - Throws: `WireError` or `BinaryDecodingError` if the event is malformed, which Admission
    ///   excludes.
    package func record() throws -> Sightline_V1_TrackingRecord {
        try Sightline_V1_TrackingRecord(serializedBytes: try self.recordBytes())
    }
}

extension [UInt8] {
    fileprivate mutating func append(varint value: UInt64) {
        var value = value
        while value >= 0x80 {
            self.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        self.append(UInt8(truncatingIfNeeded: value))
    }

    /// Appends a number, unless it is the default.
    fileprivate mutating func append(number: UInt64, field: UInt8) {
        if number == 0 { return }
        self.append(field << 3)
        self.append(varint: number)
    }

    /// Appends a text, unless it is empty.
    fileprivate mutating func append(text: Bytes, field: UInt8) {
        if text.isEmpty { return }
        self.append(field << 3 | 2)
        self.append(varint: UInt64(text.count))
        self.append(contentsOf: text)
    }

    /// Appends a message, also an empty one.
    fileprivate mutating func append(message field: UInt8, _ write: (inout [UInt8]) -> Void) {
        self.append(field << 3 | 2)
        let start = self.count
        self.append(0)
        write(&self)
        let length = self.count - start - 1
        if length < 0x80 { return self[start] = UInt8(length) }
        // The length takes a second byte, or more.
        var prefix: [UInt8] = []
        prefix.append(varint: UInt64(length))
        self.replaceSubrange(start...start, with: prefix)
    }
}
