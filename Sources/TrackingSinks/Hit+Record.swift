// A hit as the TrackingRecord that sinks hand on.
package import SightlineProtos
internal import SwiftProtobuf
package import TrackingCore

extension Hit {
    /// The record's bytes. The event goes in as the client sent it, unknown fields and all:
    /// concatenated protobuf messages merge, so it is appended as field 15 without being decoded.
    ///
    /// - Throws: `BinaryEncodingError`, which proto3 messages of valid strings do not give.
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

    /// The record, decoded.
    ///
    /// - Throws: `BinaryDecodingError` where the event is none, which Admission does not let
    ///   through.
    package func record() throws -> Sightline_V1_TrackingRecord {
        try Sightline_V1_TrackingRecord(serializedBytes: try self.recordBytes())
    }

    private func recordHead() throws -> Sightline_V1_TrackingRecord {
        // Admission has read the event with this very view.
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
