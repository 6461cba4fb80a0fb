internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules
internal import W3CTrace
internal import WireFormat

/// Turns a TrackingRecord that was kept, as a dead letter or as a line of a file, into the
/// journal's form, for a replay.
package enum KeptRecord {
    /// From a record's bytes: its event stays byte for byte as the client sent it. Nil if the bytes
    /// are no TrackingRecord.
    package static func payload(of bytes: [UInt8]) -> [UInt8]? {
        guard let record = try? Sightline_V1_TrackingRecord(serializedBytes: bytes),
            record.hitID.count == 16, let number = record.hitID.last,
            let kind = HitKind(rawValue: number)
        else { return nil }
        let trace = TraceContext(
            traceparent: record.traceContext.traceparent,
            tracestate: record.traceContext.tracestate)
        let key = record.hitID.withUnsafeBytes { id in
            HitKey(
                high: UInt64(bigEndian: id.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: id.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
        return bytes.withUnsafeBytes { bytes in
            // A record has no index of its event: it is parsed for one here, and not again.
            guard let event = Self.event(in: bytes),
                let entry = try? JournalEvent(
                    parsing: event, key: key, kinds: HitKinds(kind),
                    warnings: Warnings(numbers: record.warnings.map(\.rawValue)))
            else { return nil }
            return HitEncoding.payload(
                of: entry, receiveTime: record.receiveTime.microseconds, tenant: record.tenant,
                trace: trace)
        }
    }

    /// From a line that `JSONLines` has written. Fields that no JSON has are gone, and those of a
    /// newer build.
    package static func payload(ofLine line: [UInt8]) -> [UInt8]? {
        var options = JSONDecodingOptions()
        options.ignoreUnknownFields = true
        guard
            let record = try? Sightline_V1_TrackingRecord(jsonUTF8Bytes: line, options: options),
            let bytes: [UInt8] = try? record.serializedBytes()
        else { return nil }
        return Self.payload(of: bytes)
    }

    /// The event's original bytes: decoding and encoding might change them.
    private static func event(in record: Bytes) -> Bytes? {
        let eventTag = FieldTag.TrackingRecord.event
        var reader = WireReader(record)
        do {
            while let tag = try reader.nextTag() {
                // `recordBytes` writes it once, after all other fields.
                if tag == eventTag { return try reader.slice() }
                try reader.skip(tag)
            }
        } catch {
            // Not a TrackingRecord: the caller reports it.
        }
        return nil
    }
}

extension Google_Protobuf_Timestamp {
    /// Microseconds since 1970; 0 if they do not fit an Int64.
    fileprivate var microseconds: Int64 {
        let (whole, isTooLarge) = self.seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, overflows) = whole.addingReportingOverflow(Int64(self.nanos / 1000))
        return isTooLarge || overflows ? 0 : sum
    }
}
