// The journal's encoding of hits: Admission writes it, the journal stores it, and sinks read it.
//
// A payload is a sequence of blocks, one per request; a block is a header and an entry per event.
// All numbers are little-endian.
//
//   header  entries' bytes (4) · entries (4) · receive time in µs (8) · lengths of tenant (1),
//           traceparent (1) and tracestate (2) · the three strings
//   entry   key (15) · source, product and platform (1) · hit kinds (2) · warnings (2) · event's
//           length (4) · index (32) · event
//
// `EventIndex` describes the index. In it, an offset counts from the start of the event and has 20
// bits, and a length has 12: an event is shorter than 1 MiB, and a name shorter than 4 KiB. A
// reader trusts no number of an entry: one that is out of bounds throws `DamagedPayload`.
package import W3CTrace
package import WireFormat

/// The journal's encoding of hits, as Admission writes it. Admission and replays append blocks to a
/// payload; sinks read it in place, with `Hit.forEachHit` or `Hit.forEachEvent`. Reading checks
/// every length and never traps on damaged bytes. It parses no event and holds no state.
package enum HitEncoding {
    static let headerBytes = 20
    /// The bytes of an entry before its event.
    package static let entryBytes = 24 + EventIndex.byteCount
    /// The offset of source, product and platform in an entry, in bytes.
    package static let factsOffset = 15
    static let kindsOffset = 16
    static let warningsOffset = 18
    static let lengthOffset = 20
    /// The offset of the index in an entry, in bytes.
    package static let indexOffset = 24

    /// The bytes of a block's header.
    static func headerBytes(tenant: String, trace: TraceContext?) -> Int {
        let bytes = Self.headerBytes + min(tenant.utf8.count, Self.tenantBytes)
        guard let trace else { return bytes }
        return bytes + TraceContext.traceparentBytes
            + min(trace.tracestate.utf8.count, Self.tracestateBytes)
    }

    private static let tenantBytes = 255
    private static let tracestateBytes = 512

    /// A block's header, as `appendHeader` encodes it.
    package static func header(
        entryCount: Int, entriesBytes: Int, receiveTime: Int64, tenant: String, trace: TraceContext?
    ) -> [UInt8] {
        var header: [UInt8] = []
        header.appendHeader(
            entryCount: entryCount, entriesBytes: entriesBytes, receiveTime: receiveTime,
            tenant: tenant, trace: trace)
        return header
    }

    /// Encodes a block's header into the first bytes of `header`, which has exactly as many.
    fileprivate static func write(
        entryCount: Int, entriesBytes: Int, receiveTime: Int64, tenant: String,
        trace: TraceContext?, to header: UnsafeMutableRawBufferPointer
    ) {
        let tenant = tenant.utf8.prefix(Self.tenantBytes)
        let tracestate = (trace?.tracestate ?? "").utf8.prefix(Self.tracestateBytes)
        let traceparentBytes = trace == nil ? 0 : TraceContext.traceparentBytes
        Self.store(UInt32(truncatingIfNeeded: entriesBytes), in: header, at: 0)
        Self.store(UInt32(truncatingIfNeeded: entryCount), in: header, at: 4)
        Self.store(receiveTime, in: header, at: 8)
        header[16] = UInt8(truncatingIfNeeded: tenant.count)
        header[17] = UInt8(truncatingIfNeeded: traceparentBytes)
        Self.store(UInt16(truncatingIfNeeded: tracestate.count), in: header, at: 18)
        var rest = UnsafeMutableRawBufferPointer(rebasing: header[Self.headerBytes...])
        rest.copyBytes(from: tenant)
        rest = UnsafeMutableRawBufferPointer(rebasing: rest[tenant.count...])
        trace?.write(to: rest)
        rest = UnsafeMutableRawBufferPointer(rebasing: rest[traceparentBytes...])
        rest.copyBytes(from: tracestate)
    }

    private static func store<Number: FixedWidthInteger & BitwiseCopyable>(
        _ number: Number, in buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) {
        buffer.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
    }

    /// The bytes of the entry that starts at `offset`, including its event.
    package static func entry(at offset: Int, in entries: Bytes) -> Bytes {
        let entry = Bytes(rebasing: entries[offset...])
        return Bytes(rebasing: entry[..<(Self.entryBytes + Self.eventLength(in: entry))])
    }

    /// The number of hits in a payload, up to the first damage. Parses no event.
    package static func hitCount(in payload: Bytes) -> Int {
        var hits = 0
        // Delivery reports the damage, with its offset.
        try? Self.forEachEvent(in: payload) { event, _ in
            hits += event.kinds.rawValue.nonzeroBitCount
        }
        return hits
    }

    /// The event's bytes in the entry that starts at `offset`.
    static func eventBytes(at offset: Int, in entries: Bytes) -> Bytes {
        Bytes(rebasing: Self.entry(at: offset, in: entries)[Self.entryBytes...])
    }

    /// The event in the entry that starts at `offset`, which admission has written.
    static func event(at offset: Int, in entries: Bytes) -> JournalEvent? {
        var cursor = PayloadCursor(Self.entry(at: offset, in: entries))
        // Admission writes no entry that cannot be read.
        return try? cursor.entry()
    }

    /// Product, platform and source as one byte; the ledger's byte has no source.
    @inline(__always)
    static func facts(
        _ product: Product, _ platform: Platform?, _ source: EventSource = .api
    ) -> UInt8 {
        LedgerSubject.facts(platform, product) | (source == .postback ? Self.postbackBit : 0)
    }

    /// What such a byte says; nil if this build does not know a part of it.
    static func facts(
        of byte: UInt8
    ) -> (product: Product, platform: Platform?, source: EventSource)? {
        let names = byte & ~Self.postbackBit
        guard let product = Product(rawValue: names >> 2), names & 3 != 3 else { return nil }
        return (product, Platform(number: Int32(names & 3)), names == byte ? .api : .postback)
    }

    private static let postbackBit: UInt8 = 0x80

    /// A payload with a single event. Replaying a dead letter or a stored row needs one.
    ///
    /// - Parameters:
    ///   - receiveTime: microseconds since 1970.
    ///   - tenant: at most 255 bytes; longer ones are truncated.
    ///   - trace: the trace context of the request's span; nil if it had none.
    package static func payload(
        of event: JournalEvent, receiveTime: Int64, tenant: String, trace: TraceContext?
    ) -> [UInt8] {
        var payload = Self.header(
            entryCount: 1, entriesBytes: Self.entryBytes + event.bytes.count,
            receiveTime: receiveTime, tenant: tenant, trace: trace)
        payload.appendEntry(event, kinds: event.kinds)
        return payload
    }
}

extension [UInt8] {
    /// Appends a block's header.
    ///
    /// - Parameters:
    ///   - entryCount: the number of entries that follow.
    ///   - entriesBytes: the bytes of those entries.
    ///   - receiveTime: microseconds since 1970.
    ///   - tenant: at most 255 bytes; longer ones are truncated.
    ///   - trace: the context of the server's span; without one the header has no traceparent.
    mutating func appendHeader(
        entryCount: Int, entriesBytes: Int, receiveTime: Int64, tenant: String, trace: TraceContext?
    ) {
        let bytes = HitEncoding.headerBytes(tenant: tenant, trace: trace)
        withUnsafeTemporaryAllocation(byteCount: bytes, alignment: 1) { header in
            HitEncoding.write(
                entryCount: entryCount, entriesBytes: entriesBytes, receiveTime: receiveTime,
                tenant: tenant, trace: trace, to: header)
            self.append(contentsOf: header)
        }
    }

    /// Appends an event's entry, with some of its kinds.
    mutating func appendEntry(_ event: JournalEvent, kinds: HitKinds) {
        self.appendEntry(
            key: event.key,
            facts: HitEncoding.facts(event.product, event.platform, event.source), kinds: kinds,
            warnings: event.warnings, index: event.index, event: event.bytes)
    }

    /// Appends an entry. Its hit kinds and warnings may change until the event is sealed. `more` is
    /// what the server appends to the event.
    @inline(__always)
    mutating func appendEntry(
        key: HitKey, facts: UInt8, kinds: HitKinds, warnings: Warnings, index: EventIndex,
        event: Bytes, more: [UInt8] = []
    ) {
        let stored = index.stored
        // Every number is aligned, so the tuple has no padding.
        Swift.withUnsafeBytes(
            of: (
                key.high.bigEndian, (key.low | UInt64(facts)).bigEndian,
                kinds.rawValue.littleEndian, warnings.rawValue.littleEndian,
                UInt32(truncatingIfNeeded: event.count &+ more.count).littleEndian,
                stored.0, stored.1, stored.2, stored.3, stored.4, stored.5, stored.6
            )
        ) { self.append(contentsOf: $0) }
        self.append(contentsOf: event)
        if !more.isEmpty { self.append(contentsOf: more) }
    }
}

extension HitEncoding {
    /// Updates the number and size of the entries in the header at `offset`.
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
