// How the journal's form is read: in place, and nothing beyond its end.

/// Steps through a payload, checking every length.
struct PayloadCursor {
    private let payload: Bytes
    private(set) var offset = 0

    init(_ payload: Bytes) { self.payload = payload }

    var isAtEnd: Bool { self.offset >= self.payload.count }

    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type
    ) throws -> Number {
        let bytes = try self.bytes(MemoryLayout<Number>.size)
        return Number(littleEndian: bytes.loadUnaligned(as: Number.self))
    }

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
        let origin = Hit.Origin(
            receiveTime: receiveTime, tenant: try self.bytes(tenantLength),
            traceparent: try self.bytes(traceparentLength),
            tracestate: try self.bytes(tracestateLength))
        let header = Bytes(rebasing: self.payload[start..<self.offset])
        return PayloadBlock(
            header: header, origin: origin, entryCount: entryCount,
            entries: try self.bytes(entriesBytes))
    }

    /// Steps over the next entry, whatever it says, and gives its bytes.
    mutating func entryBytes() throws -> Bytes {
        let start = self.offset
        let head = try self.bytes(HitBlock.entryBytes)
        let length = UInt32(
            littleEndian: head.loadUnaligned(
                fromByteOffset: HitBlock.lengthOffset, as: UInt32.self))
        _ = try self.bytes(Int(length))
        return Bytes(rebasing: self.payload[start..<self.offset])
    }

    /// Reads a block's header, and steps over its entries.
    mutating func trace() throws -> TraceContext? {
        let head = try self.bytes(HitBlock.headerBytes)
        let entriesBytes = UInt32(littleEndian: head.loadUnaligned(as: UInt32.self))
        let tracestateLength = UInt16(
            littleEndian: head.loadUnaligned(fromByteOffset: 18, as: UInt16.self))
        _ = try self.bytes(Int(head[16]))
        let traceparent = try self.bytes(Int(head[17]))
        let tracestate = try self.bytes(Int(tracestateLength))
        _ = try self.bytes(Int(entriesBytes))
        return TraceContext(traceparent: traceparent, tracestate: tracestate)
    }

    mutating func entry() throws -> JournalEvent {
        let head = try self.bytes(HitBlock.entryBytes)
        let length = UInt32(
            littleEndian: head.loadUnaligned(
                fromByteOffset: HitBlock.lengthOffset, as: UInt32.self))
        let event = try self.bytes(Int(length))
        let kinds = HitKinds(
            rawValue: UInt16(
                littleEndian: head.loadUnaligned(
                    fromByteOffset: HitBlock.kindsOffset, as: UInt16.self)))
        guard let product = Product(rawValue: head[HitBlock.productOffset]),
            kinds.rawValue & ~HitKinds.all.rawValue == 0
        else { throw DamagedPayload(offset: self.offset) }
        return JournalEvent(
            key: HitKey(
                high: UInt64(bigEndian: head.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: head.loadUnaligned(fromByteOffset: 8, as: UInt64.self))),
            product: product, kinds: kinds,
            warnings: Warnings(
                rawValue: UInt16(
                    littleEndian: head.loadUnaligned(
                        fromByteOffset: HitBlock.warningsOffset, as: UInt16.self))),
            bytes: event)
    }
}

/// One request in a payload, its entries still unread.
struct PayloadBlock {
    /// All that stands before the entries.
    let header: Bytes
    let origin: Hit.Origin
    let entryCount: Int
    let entries: Bytes
}
