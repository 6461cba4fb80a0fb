/// What a record changes besides its hits.
struct RecordChanges: Equatable {
    /// The rows that it adds to the ledger (`LedgerDelta.encoded`, without their length).
    let ledger: ArraySlice<UInt8>
    /// The window's changes (`DeduplicationWindow.row(of:)`).
    let keys: ArraySlice<UInt8>

    /// Parses the first part of a body, which matches its checksum.
    init(_ bytes: [UInt8], hasLedger: Bool) {
        guard hasLedger, bytes.count >= 4 else {
            (self.ledger, self.keys) = ([], bytes[...])
            return
        }
        let count = bytes.withUnsafeBytes {
            UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
        }
        let rest = bytes[4...]
        self.ledger = rest.prefix(Int(count))
        self.keys = rest.dropFirst(Int(count))
    }
}
