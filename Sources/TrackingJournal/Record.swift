// What one commit writes to the log.
internal import CCRC32C

/// One group of requests, before it has a place.
struct Record {
    let sequence: Int64
    /// In microseconds since 1970.
    let createTime: Int64
    let eventCount: Int
    /// Events in all records up to this one, modulo 2³².
    let eventTotal: UInt32
    /// The window's changes (`RecentHits.row(of:)`).
    let keys: [UInt8]
    /// Hits in the journal's form; empty where only keys have changed.
    let payload: [UInt8]

    var byteCount: Int { RecordHeader.byteCount + self.keys.count + self.payload.count }

    /// Its header in a segment that has this salt.
    func header(salt: UInt64) -> RecordHeader {
        RecordHeader(
            salt: salt, sequence: self.sequence, createTime: self.createTime,
            eventCount: self.eventCount, eventTotal: self.eventTotal, keyBytes: self.keys.count,
            payloadBytes: self.payload.count,
            bodyChecksum: self.payload.checksum(after: self.keys.checksum(after: 0)))
    }
}

/// A record that has a place, without its body.
struct StoredRow {
    let sequence: Int64
    /// In microseconds since 1970.
    let createTime: Int64
    /// Bytes of its payload.
    let bytes: Int
    let eventCount: UInt32
    /// Events in all records up to this one, modulo 2³².
    let eventTotal: UInt32
    /// Where it stands; nil where it can no longer be found, or nothing is written at all.
    let place: RecordPlace?
}

extension StoredRow {
    /// The row of a record that was found.
    init(_ header: RecordHeader, _ place: RecordPlace) {
        self.init(
            sequence: header.sequence, createTime: header.createTime, bytes: header.payloadBytes,
            eventCount: UInt32(truncatingIfNeeded: header.eventCount),
            eventTotal: header.eventTotal, place: place)
    }
}

/// Where a record stands.
struct RecordPlace {
    /// The segment's number.
    let segment: Int
    let offset: Int
}

extension [UInt8] {
    /// The CRC-32C of these bytes after others.
    fileprivate func checksum(after checksum: UInt32) -> UInt32 {
        self.withUnsafeBytes { sightline_crc32c(checksum, $0.baseAddress, $0.count) }
    }
}
