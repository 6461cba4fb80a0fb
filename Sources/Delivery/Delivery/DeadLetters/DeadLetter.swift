internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules
internal import W3CTrace
internal import WireFormat

/// A row of dead_letters.db: a hit that a sink rejected permanently.
struct DeadLetter: Sendable {
    /// The row id: strictly increasing in the order of insertion.
    let id: Int64
    /// The bytes of a TrackingRecord; for a damaged batch, its whole payload.
    let record: [UInt8]

    /// The hit in the journal's form, its event byte for byte as the client sent it; nil if the row
    /// does not hold a TrackingRecord.
    func payload() -> [UInt8]? {
        guard let record = try? Sightline_V1_TrackingRecord(serializedBytes: self.record),
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
        return self.record.withUnsafeBytes { bytes in
            // A letter has no index of its event: it is parsed for one here, and not again.
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
