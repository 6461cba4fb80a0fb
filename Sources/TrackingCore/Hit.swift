// One hit as a sink receives it, read from the journal's form.

/// A hit in place: what Campaign counts once.
package struct Hit {
    /// The key of all hits of its event.
    package let key: HitKey
    /// What it counts.
    package let kind: HitKind
    /// The product that made the delivery.
    package let product: Product
    /// What looks wrong.
    package let warnings: Warnings
    /// What its request had in common.
    package let origin: Origin
    /// The client's event, byte for byte.
    package let event: Bytes

    /// What all hits of a request share.
    package struct Origin {
        /// Microseconds since 1970.
        package let receiveTime: Int64
        /// Who sent it.
        package let tenant: Bytes
        /// The server's span, W3C traceparent.
        package let traceparent: Bytes
        /// W3C tracestate, empty where there is none.
        package let tracestate: Bytes
    }

    /// The 16 bytes that stay the same whenever the same fact comes again.
    package var id: [UInt8] { self.key.hitID(self.kind) }

    /// The number that the product gives the hit; 0 for Firebase.
    package var campaignAction: UInt32 { self.kind.campaignAction(of: self.product) }
}

/// The payload is not in the journal's form.
package struct DamagedPayload: Error, CustomStringConvertible {
    /// Where it stops making sense, in bytes.
    package let offset: Int
    /// What happened, for a log.
    package var description: String {
        "the journal's payload cannot be read at byte \(self.offset) of a block: an entry goes "
            + "beyond the end, or says what only a newer build knows"
    }
}

/// An event in the journal's form, with all of its hits.
package struct JournalEvent {
    /// The key of its hits.
    package let key: HitKey
    /// The product that made the delivery.
    package let product: Product
    /// What its hits count.
    package let kinds: HitKinds
    /// What looks wrong.
    package let warnings: Warnings
    /// The client's event, byte for byte.
    package let bytes: Bytes
}

extension HitBlock {
    /// Calls `body` with every hit of a payload, in order: an event's hits follow each other.
    ///
    /// - Throws: `DamagedPayload` where the bytes are not in the journal's form, or what `body`
    ///   throws.
    package static func forEachHit(in payload: Bytes, _ body: (Hit) throws -> Void) throws {
        try Self.forEachEvent(in: payload) { event, origin in
            try Self.forEachHit(of: event, origin, body)
        }
    }

    /// Calls `body` with every hit of an event.
    @inline(__always)
    static func forEachHit(
        of event: JournalEvent, _ origin: Hit.Origin, _ body: (Hit) throws -> Void
    ) rethrows {
        var kinds = event.kinds.rawValue
        while kinds != 0 {
            let number = UInt8(truncatingIfNeeded: kinds.trailingZeroBitCount)
            kinds &= kinds &- 1
            // The cursor has checked them.
            guard let kind = HitKind(rawValue: number) else { continue }
            try body(
                Hit(
                    key: event.key, kind: kind, product: event.product,
                    warnings: event.warnings, origin: origin, event: event.bytes))
        }
    }

    /// Calls `body` with every event of a payload, in order, and with what its request's events
    /// have in common: for who counts hits and needs none by itself.
    ///
    /// - Throws: `DamagedPayload` where the bytes are not in the journal's form, or what `body`
    ///   throws.
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
    /// The trace contexts that the requests of a payload carry on, in order: reads the blocks'
    /// headers, and no entry. Ends early where the payload is damaged.
    ///
    /// - Parameter body: returns false where it wants no more.
    package static func forEachTrace(in payload: Bytes, _ body: (TraceContext) -> Bool) {
        var cursor = PayloadCursor(payload)
        while !cursor.isAtEnd {
            // Delivery tells of damage, with its place.
            guard let origin = try? cursor.block().origin,
                let trace = TraceContext(
                    traceparent: origin.traceparent, tracestate: origin.tracestate)
            else { return }
            if !body(trace) { return }
        }
    }
}
