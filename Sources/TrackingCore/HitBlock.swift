// The journal's form of hits: what Admission writes, the journal keeps and the sinks read.
//
// A payload is a row of blocks, one per request; a block is a header and an entry per event. All
// numbers are little-endian.
//
//   header  entries' bytes (4) · entries (4) · receive time in µs (8) · lengths of tenant (1),
//           traceparent (1) and tracestate (2) · the three strings
//   entry   key (15) · product (1) · hit kinds (2) · warnings (2) · event's length (4) · event

/// The sizes and places of the journal's form.
package enum HitBlock {
    static let headerBytes = 20
    static let entryBytes = 24
    static let productOffset = 15
    static let kindsOffset = 16
    static let warningsOffset = 18
    static let lengthOffset = 20

    /// A block's header.
    ///
    /// - Parameters:
    ///   - entryCount: entries that follow.
    ///   - entriesBytes: their bytes.
    ///   - receiveTime: microseconds since 1970.
    ///   - tenant: at most 255 bytes; the rest is cut.
    ///   - trace: the server's span.
    package static func header(
        entryCount: Int, entriesBytes: Int, receiveTime: Int64, tenant: String, trace: TraceContext
    ) -> [UInt8] {
        let tenant = tenant.utf8.prefix(255)
        let traceparent = trace.traceparent.utf8
        let tracestate = trace.tracestate.utf8.prefix(512)
        var header: [UInt8] = []
        header.reserveCapacity(
            Self.headerBytes + tenant.count + traceparent.count + tracestate.count)
        header.append(littleEndian: UInt32(truncatingIfNeeded: entriesBytes))
        header.append(littleEndian: UInt32(truncatingIfNeeded: entryCount))
        header.append(littleEndian: receiveTime)
        header.append(UInt8(truncatingIfNeeded: tenant.count))
        header.append(UInt8(truncatingIfNeeded: traceparent.count))
        header.append(littleEndian: UInt16(truncatingIfNeeded: tracestate.count))
        header.append(contentsOf: tenant)
        header.append(contentsOf: traceparent)
        header.append(contentsOf: tracestate)
        return header
    }

    /// The bytes of the entry that starts at `offset`, its event's among them.
    package static func entry(at offset: Int, in entries: Bytes) -> Bytes {
        let length = UInt32(
            littleEndian: entries.loadUnaligned(
                fromByteOffset: offset + Self.lengthOffset, as: UInt32.self))
        return Bytes(rebasing: entries[offset..<offset + Self.entryBytes + Int(length)])
    }

    /// The event in the entry that starts at `offset`.
    static func event(at offset: Int, in entries: Bytes) -> Bytes {
        Bytes(rebasing: Self.entry(at: offset, in: entries)[Self.entryBytes...])
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { self.append(contentsOf: $0) }
    }

    /// Appends one entry of the journal's form; its hit kinds may be changed until it is sealed.
    mutating func appendEntry(
        key: HitKey, product: Product, kinds: HitKinds, warnings: Warnings, event: Bytes
    ) {
        Swift.withUnsafeBytes(
            of: (
                key.high.bigEndian, (key.low | UInt64(product.rawValue)).bigEndian,
                kinds.rawValue.littleEndian, warnings.rawValue.littleEndian,
                UInt32(truncatingIfNeeded: event.count).littleEndian
            )
        ) { self.append(contentsOf: $0) }
        self.append(contentsOf: event)
    }
}

extension HitBlock {
    /// Writes how many entries of how many bytes follow the header at `offset`.
    package static func setEntries(
        count: Int, bytes: Int, in payload: inout [UInt8], at offset: Int
    ) {
        payload.withUnsafeMutableBytes { payload in
            payload.storeBytes(
                of: UInt32(truncatingIfNeeded: bytes).littleEndian, toByteOffset: offset,
                as: UInt32.self)
            payload.storeBytes(
                of: UInt32(truncatingIfNeeded: count).littleEndian, toByteOffset: offset + 4,
                as: UInt32.self)
        }
    }
}
