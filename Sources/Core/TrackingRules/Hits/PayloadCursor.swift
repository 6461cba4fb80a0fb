// Reads the journal's encoding in place, never beyond its end.
internal import WireFormat

/// Steps through a payload, checking every length.
struct PayloadCursor {
    private let payload: Bytes
    private(set) var offset = 0

    init(_ payload: Bytes) { self.payload = payload }

    var isAtEnd: Bool { self.offset >= self.payload.count }

    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type
    ) throws -> Number {
        try self.bytes(MemoryLayout<Number>.size).number(at: 0)
    }

    @inline(__always)
    mutating func bytes(_ count: Int) throws -> Bytes {
        guard count <= self.payload.count - self.offset else {
            throw DamagedPayload(offset: self.offset)
        }
        defer { self.offset += count }
        return Bytes(rebasing: self.payload[self.offset..<self.offset + count])
    }

    /// The next request's block.
    mutating func block() throws -> PayloadBlock {
        let start = self.offset
        let entriesBytes = Int(try self.number(UInt32.self))
        let entryCount = Int(try self.number(UInt32.self))
        let receiveTime = try self.number(Int64.self)
        let tenantLength = Int(try self.number(UInt8.self))
        let traceparentLength = Int(try self.number(UInt8.self))
        let tracestateLength = Int(try self.number(UInt16.self))
        let request = Hit.Request(
            receiveTime: receiveTime, tenant: try self.bytes(tenantLength),
            traceparent: try self.bytes(traceparentLength),
            tracestate: try self.bytes(tracestateLength))
        let header = Bytes(rebasing: self.payload[start..<self.offset])
        return PayloadBlock(
            header: header, request: request, entryCount: entryCount,
            entries: try self.bytes(entriesBytes))
    }

    /// Steps over the next entry without reading it, and returns its bytes.
    mutating func entryBytes() throws -> Bytes {
        let start = self.offset
        let head = try self.bytes(HitEncoding.entryBytes)
        _ = try self.bytes(HitEncoding.eventLength(in: head))
        return Bytes(rebasing: self.payload[start..<self.offset])
    }

    @inline(__always)
    mutating func entry() throws -> JournalEvent {
        let head = try self.bytes(HitEncoding.entryBytes)
        let event = try self.bytes(HitEncoding.eventLength(in: head))
        let kinds = HitKinds(rawValue: head.number(at: HitEncoding.kindsOffset))
        guard let facts = HitEncoding.facts(of: head[HitEncoding.factsOffset]),
            kinds.rawValue & ~HitKinds.all.rawValue == 0,
            let index = EventIndex(
                at: HitEncoding.indexOffset, in: head, eventBytes: event.count)
        else { throw DamagedPayload(offset: self.offset) }
        return JournalEvent(
            key: HitKey(
                high: UInt64(bigEndian: head.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: head.loadUnaligned(fromByteOffset: 8, as: UInt64.self))),
            product: facts.product, platform: facts.platform, source: facts.source, kinds: kinds,
            warnings: Warnings(rawValue: head.number(at: HitEncoding.warningsOffset)),
            bytes: event, index: index)
    }
}

extension UnsafeRawBufferPointer {
    /// The little-endian number at an offset.
    @inline(__always)
    fileprivate func number<Number: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int
    ) -> Number {
        Number(littleEndian: self.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}

extension HitEncoding {
    /// The length of the event in the entry that starts with `head`.
    static func eventLength(in head: Bytes) -> Int {
        let length: UInt32 = head.number(at: Self.lengthOffset)
        return Int(length)
    }
}

/// One request in a payload, its entries not read yet.
struct PayloadBlock {
    /// The bytes before the entries.
    let header: Bytes
    let request: Hit.Request
    let entryCount: Int
    let entries: Bytes
}
