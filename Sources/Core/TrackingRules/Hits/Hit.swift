package import W3CTrace
package import WireFormat

/// A hit as a sink receives it, in place in the journal's payload: what Campaign counts once.
package struct Hit {
    /// The key of the hit's event.
    package let key: HitKey
    /// The kind of hit.
    package let kind: HitKind
    /// The product that created the delivery.
    package let product: Product
    /// Warnings about the event.
    package let warnings: Warnings
    /// What the hit shares with the other hits of its request.
    package let origin: Origin
    /// The client's event, byte for byte.
    package let event: Bytes

    /// What all hits of a request share.
    package struct Origin {
        /// When the request arrived, in microseconds since 1970.
        package let receiveTime: Int64
        /// The tenant that sent the request.
        package let tenant: Bytes
        /// The W3C traceparent of the server's span.
        package let traceparent: Bytes
        /// The W3C tracestate; empty if there is none.
        package let tracestate: Bytes

        /// Creates the origin of hits that are not in the journal's form.
        package init(
            receiveTime: Int64, tenant: Bytes, traceparent: Bytes, tracestate: Bytes
        ) {
            self.receiveTime = receiveTime
            self.tenant = tenant
            self.traceparent = traceparent
            self.tracestate = tracestate
        }
    }

    /// The hit id: 16 bytes that are the same each time the same fact is reported.
    package var id: [UInt8] { self.key.hitID(self.kind) }

    /// The same hit with other bytes of its event.
    package func replacing(event: Bytes) -> Hit {
        Hit(
            key: self.key, kind: self.kind, product: self.product, warnings: self.warnings,
            origin: self.origin, event: event)
    }

    /// The product's own number for the kind of hit; 0 for Firebase.
    package var campaignAction: UInt32 { self.kind.campaignAction(of: self.product) }
}

/// A payload that is not in the journal's form.
package struct DamagedPayload: Error, CustomStringConvertible {
    /// The offset in its block, in bytes, where parsing failed.
    package let offset: Int
    /// A message for the log.
    package var description: String {
        "the journal's payload cannot be read at byte \(self.offset) of a block: an entry goes "
            + "beyond the end, or says what only a newer build knows"
    }
}

/// An event in the journal's form, with the kinds of its hits.
package struct JournalEvent {
    /// The key of the event's hits.
    package let key: HitKey
    /// The product that created the delivery.
    package let product: Product
    /// The kinds of its hits.
    package let kinds: HitKinds
    /// Warnings about the event.
    package let warnings: Warnings
    /// The client's event, byte for byte.
    package let bytes: Bytes

    /// Creates an event that is not in the journal's form.
    package init(
        key: HitKey, product: Product, kinds: HitKinds, warnings: Warnings, bytes: Bytes
    ) {
        self.key = key
        self.product = product
        self.kinds = kinds
        self.warnings = warnings
        self.bytes = bytes
    }
}

extension HitBlock {
    /// Calls `body` for every hit of a payload in order; the hits of one event are adjacent.
    ///
    /// - Throws: `DamagedPayload` if the bytes are not in the journal's form; errors of `body`.
    package static func forEachHit(in payload: Bytes, _ body: (Hit) throws -> Void) throws {
        try Self.forEachEvent(in: payload) { event, origin in
            try Self.forEachHit(of: event, origin, body)
        }
    }

    @inline(__always)
    static func forEachHit(
        of event: JournalEvent, _ origin: Hit.Origin, _ body: (Hit) throws -> Void
    ) rethrows {
        var kinds = event.kinds.rawValue
        while kinds != 0 {
            let number = UInt8(truncatingIfNeeded: kinds.trailingZeroBitCount)
            kinds &= kinds &- 1
            // PayloadCursor has checked the kinds.
            guard let kind = HitKind(rawValue: number) else { continue }
            try body(
                Hit(
                    key: event.key, kind: kind, product: event.product,
                    warnings: event.warnings, origin: origin, event: event.bytes))
        }
    }

    /// Calls `body` for every event of a payload, in order, with what its request's hits share.
    /// Cheaper than `forEachHit` where hits are only counted.
    ///
    /// - Throws: `DamagedPayload` if the bytes are not in the journal's form; errors of `body`.
    package static func forEachEvent(
        in payload: Bytes, _ body: (JournalEvent, Hit.Origin) throws -> Void
    ) throws {
        var cursor = PayloadCursor(payload)
        while !cursor.isAtEnd {
            let block = try cursor.block()
            var entries = PayloadCursor(block.entries)
            for _ in 0..<block.entryCount { try body(try entries.entry(), block.origin) }
        }
    }
}

extension HitBlock {
    /// Calls `body` with the trace context of each request in a payload, in order; a request
    /// without one is left out. Reads the headers of blocks only; stops early if the payload is
    /// damaged.
    ///
    /// - Parameter body: returns false to stop.
    package static func forEachTrace(in payload: Bytes, _ body: (TraceContext) -> Bool) {
        var cursor = PayloadCursor(payload)
        while !cursor.isAtEnd {
            // Delivery tells of damage, with its place.
            guard let origin = try? cursor.block().origin else { return }
            let trace = TraceContext(
                traceparent: origin.traceparent, tracestate: origin.tracestate)
            if let trace, !body(trace) { return }
        }
    }
}
