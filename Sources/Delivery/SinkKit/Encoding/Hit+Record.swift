package import SightlineProtos
internal import SwiftProtobuf
package import TrackingRules
internal import WireFormat

extension Hit {
    /// Encodes the TrackingRecord.
    package func recordBytes() -> [UInt8] {
        var writer = RecordWriter()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(writer.prepare(self))
        writer.append(self, to: &bytes)
        return bytes
    }

    /// The TrackingRecord, decoded.
    ///
    /// - Throws: `BinaryDecodingError` if the event is malformed, which Admission excludes.
    package func record() throws -> Sightline_V1_TrackingRecord {
        try Sightline_V1_TrackingRecord(serializedBytes: self.recordBytes())
    }
}
