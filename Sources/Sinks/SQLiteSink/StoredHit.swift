internal import Foundation
internal import GRDB
internal import TrackingRules
internal import WireFormat

/// A row of hits.db with the columns of the view `hits`.
enum StoredHit {
    /// Calls `body` with a row's id and with its hit in the journal's encoding. Skips a row that an
    /// erasure has overwritten and is about to delete.
    ///
    /// - Throws: GRDB's error if the row is malformed, `WireError` if its event is, and errors of
    ///   `body`.
    static func read(
        _ row: Row, _ body: (Int64, JournalEvent, Hit.Request) throws -> Void
    ) throws {
        let hitID = try row.decode(Data.self, forColumn: "hit_id")
        // Checked before the event is read, since the row that has the event's bytes may be
        // overwritten too.
        if hitID == HitErasure.overwrittenID { return }
        let rowID = try row.decode(Int64.self, forColumn: "rowid")
        let event = try row.decode(Data.self, forColumn: "event")
        guard hitID.count == 16, let kind = hitID.last.flatMap(HitKind.init(rawValue:)) else {
            throw DatabaseError(
                message:
                    "row \(rowID) of the hits has no hit id of 16 "
                    + "bytes that ends in a kind: no build has written it")
        }
        let key = hitID.withUnsafeBytes { id in
            HitKey(
                high: UInt64(bigEndian: id.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: id.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
        let warnings = try row.decode(String?.self, forColumn: "warnings") ?? ""
        let receiveTime = try row.decode(Int64?.self, forColumn: "receive_time") ?? 0
        let texts = try ["tenant", "traceparent", "tracestate"].map {
            try row.decode(String?.self, forColumn: $0) ?? ""
        }
        try event.withUnsafeBytes { event in
            // A row has no index of its event, so the event is parsed here, once.
            let entry = try JournalEvent(
                parsing: event, key: key, kinds: HitKinds(kind), warnings: Warnings(names: warnings)
            )
            try texts[0].withBytes { tenant in
                try texts[1].withBytes { traceparent in
                    try texts[2].withBytes { tracestate in
                        try body(
                            rowID, entry,
                            Hit.Request(
                                receiveTime: receiveTime, tenant: tenant,
                                traceparent: traceparent, tracestate: tracestate))
                    }
                }
            }
        }
    }
}
