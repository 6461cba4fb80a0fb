internal import SinkKit

/// A row of dead_letters.db: a hit that a sink rejected permanently.
struct DeadLetter: Sendable {
    /// The row id: strictly increasing in the order of insertion.
    let id: Int64
    /// The bytes of a TrackingRecord; for a damaged batch, its whole payload.
    let record: [UInt8]

    /// The hit in the journal's form, its event byte for byte as the client sent it; nil if the row
    /// does not hold a TrackingRecord.
    func payload() -> [UInt8]? { KeptRecord.payload(of: self.record) }
}
