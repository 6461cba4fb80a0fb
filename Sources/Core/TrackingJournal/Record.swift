internal import CCRC32C

/// One group of requests as a commit writes it, before it has a place in the log.
struct Record {
    let sequence: Int64
    /// In microseconds since 1970.
    let createTime: Int64
    let eventCount: Int
    /// The number of events in all records up to this one, modulo 2³².
    let eventTotal: UInt32
    /// The window's changes (`DeduplicationWindow.row(of:)`).
    let keys: [UInt8]
    /// Hits in the journal's form; empty if only the window or the ledger has changed.
    let payload: [UInt8]
    /// What the group adds to the ledger (`LedgerDelta.encoded`); empty if it adds nothing.
    var ledger: [UInt8] = []

    var byteCount: Int {
        RecordHeader.byteCount + self.ledger.count + self.keys.count + self.payload.count
    }

    /// The record's header in a segment with this salt.
    func header(salt: UInt64) -> RecordHeader {
        RecordHeader(
            salt: salt, sequence: self.sequence, createTime: self.createTime,
            eventCount: self.eventCount, eventTotal: self.eventTotal,
            keyBytes: self.ledger.count + self.keys.count, hasLedger: !self.ledger.isEmpty,
            payloadBytes: self.payload.count,
            bodyChecksum: self.payload.checksum(
                after: self.keys.checksum(after: self.ledger.checksum(after: 0))))
    }
}

/// A record in the log, without its body.
struct StoredRow {
    let sequence: Int64
    /// In microseconds since 1970.
    let createTime: Int64
    /// The bytes of its payload.
    let bytes: Int
    let eventCount: UInt32
    let hitCount: UInt32
    /// The number of events in all records up to this one, modulo 2³².
    let eventTotal: UInt32
    /// The payload bytes of the rows kept when it was added, and its own: the difference between
    /// two rows is the payload between them.
    var bytesTotal = 0
    /// The bytes of the records without a payload behind it, which are kept as long as it is.
    var trailingBytes = 0
    /// Where it is stored; nil if it is lost, or if the journal has no disk.
    let place: RecordPlace?
}

extension StoredRow {
    /// The row of a record found at startup.
    init(_ header: RecordHeader, hitCount: Int, _ place: RecordPlace) {
        self.init(
            sequence: header.sequence, createTime: header.createTime, bytes: header.payloadBytes,
            eventCount: UInt32(truncatingIfNeeded: header.eventCount),
            hitCount: UInt32(truncatingIfNeeded: hitCount), eventTotal: header.eventTotal,
            place: place)
    }
}

/// The position of a record in the log.
struct RecordPlace {
    /// The segment's number.
    let segment: Int
    let offset: Int
}

extension [UInt8] {
    /// The CRC-32C of these bytes, continued from that of preceding ones.
    fileprivate func checksum(after checksum: UInt32) -> UInt32 {
        self.withUnsafeBytes { sightline_crc32c(checksum, $0.baseAddress, $0.count) }
    }
}
