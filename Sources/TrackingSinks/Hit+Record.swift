package import SightlineProtos
internal import SwiftProtobuf
package import TrackingCore

extension Hit {
    /// Encodes the TrackingRecord. The event is appended as field 15 without decoding it, so that
    /// unknown fields are kept: concatenated protobuf messages merge.
    ///
    /// - Throws: `BinaryEncodingError`, which cannot happen for valid strings.
    package func recordBytes() throws -> [UInt8] {
        let head: [UInt8] = try self.recordHead().serializedBytes()
        var bytes = head
        bytes.reserveCapacity(head.count + self.event.count + 6)
        bytes.append(15 << 3 | 2)
        var length = self.event.count
        while length >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: length))
        bytes.append(contentsOf: self.event)
        return bytes
    }

    /// The TrackingRecord, decoded.
    ///
    /// - Throws: `BinaryDecodingError` if the event is malformed, which Admission excludes.
    package func record() throws -> Sightline_V1_TrackingRecord {
        try Sightline_V1_TrackingRecord(serializedBytes: try self.recordBytes())
    }

    private func recordHead() throws -> Sightline_V1_TrackingRecord {
        // Admission has parsed the event the same way.
        let event = try EventView(self.event)
        return .with { record in
            record.hitID = .init(self.id)
            record.kind = Sightline_V1_HitKind(rawValue: Int(self.kind.rawValue)) ?? .unspecified
            record.campaignAction = self.campaignAction
            record.deliveryID = event.deliveryID.text
            record.broadlogID = event.broadlogID.text
            record.receiveTime = .with { time in
                time.seconds = self.origin.receiveTime / 1_000_000
                time.nanos = Int32(self.origin.receiveTime % 1_000_000) * 1000
            }
            record.tenant = self.origin.tenant.text
            record.traceContext = .with { trace in
                trace.traceparent = self.origin.traceparent.text
                trace.tracestate = self.origin.tracestate.text
            }
            record.warnings = self.warnings.numbers.compactMap {
                Sightline_V1_Warning(rawValue: Int($0))
            }
        }
    }
}
