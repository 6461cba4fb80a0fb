// One hit that a sink refused for good, and its way back into the journal's form.
internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingCore

/// A row of the dead letters.
struct DeadLetter: Sendable {
    /// Its row: rising, in the order in which letters were kept.
    let id: Int64
    /// The TrackingRecord's bytes; a whole payload where a damaged batch was kept.
    let record: [UInt8]

    /// The hit as a payload of its own, its event byte for byte as the client sent it; nil where
    /// the row holds no record of a hit.
    func payload() -> [UInt8]? {
        guard let record = try? Sightline_V1_TrackingRecord(serializedBytes: self.record),
            record.hitID.count == 16, let number = record.hitID.last,
            let kind = HitKind(rawValue: number),
            let trace = TraceContext(
                traceparent: record.traceContext.traceparent,
                tracestate: record.traceContext.tracestate)
        else { return nil }
        let key = record.hitID.withUnsafeBytes { id in
            HitKey(
                high: UInt64(bigEndian: id.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: id.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
        return self.record.withUnsafeBytes { bytes in
            guard let event = Self.event(in: bytes), let view = try? EventView(event) else {
                return nil
            }
            return HitBlock.payload(
                key: key, kind: kind, product: view.product,
                warnings: Warnings(numbers: record.warnings.map(\.rawValue)),
                receiveTime: record.receiveTime.microseconds, tenant: record.tenant, trace: trace,
                event: event)
        }
    }

    /// The event's own bytes: decoded and encoded again they might be others.
    private static func event(in record: Bytes) -> Bytes? {
        let eventTag: UInt32 = 15 << 3 | 2
        var reader = WireReader(record)
        do {
            while let tag = try reader.nextTag() {
                // It is written last, and once.
                if tag == eventTag { return try reader.slice() }
                try reader.skip(tag)
            }
        } catch {
            // Not a record: the caller says so.
        }
        return nil
    }
}

extension Warnings {
    /// The warnings of these numbers of the proto enum; others are left out.
    fileprivate init(numbers: [Int]) {
        let bits = numbers.filter((1...8).contains).map { UInt16(1) << UInt16($0) }
        self.init(rawValue: bits.reduce(0, |))
    }
}

extension Google_Protobuf_Timestamp {
    /// Since 1970, as far as a number of 64 bits goes.
    fileprivate var microseconds: Int64 {
        let (seconds, overflow) = self.seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? 0 : seconds &+ Int64(self.nanos / 1000)
    }
}
