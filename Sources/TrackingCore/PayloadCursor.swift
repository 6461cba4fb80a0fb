// How the journal's form is read: in place, and nothing beyond its end.

/// Steps through a payload, checking every length.
struct PayloadCursor {
    private let payload: Bytes
    private var offset = 0

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
