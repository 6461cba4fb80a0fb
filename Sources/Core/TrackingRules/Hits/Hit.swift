package import W3CTrace
package import WireFormat

/// A hit as a sink receives it, in place in the journal's payload: what Campaign or Firebase counts
/// once.
package struct Hit {
    /// The event that the hit belongs to.
    package let entry: JournalEvent
    /// The kind of hit.
    package let kind: HitKind
    /// The request of the hit.
    package let request: Request

    /// What all hits of a request share.
    package struct Request {
        /// When the request arrived, in microseconds since 1970.
        package let receiveTime: Int64
        /// The tenant that sent the request.
        package let tenant: Bytes
        /// The W3C traceparent of the server's span.
        package let traceparent: Bytes
        /// The W3C tracestate; empty if there is none.
        package let tracestate: Bytes

        /// Creates the request of hits that are not in the journal's encoding.
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

    /// The product's own number for the kind of hit; 0 for Firebase.
    package var campaignAction: UInt32 { self.kind.campaignAction(of: self.product) }

    /// The hit of an event.
    package init(entry: JournalEvent, kind: HitKind, request: Request) {
        self.entry = entry
        self.kind = kind
        self.request = request
    }
}

// MARK: Fields of the event

extension Hit {
    /// The key of the hit's event.
    package var key: HitKey { self.entry.key }
    /// The product that created the delivery; Firebase for an in-app message.
    package var product: Product { self.entry.product }
    /// Warnings about the event.
    package var warnings: Warnings { self.entry.warnings }
    /// The client's event, byte for byte, and what the server adds behind it.
    package var event: Bytes { self.entry.bytes }
    /// deliveryId, or an in-app message's message id.
    package var deliveryID: Bytes { self.entry.deliveryID }
    /// broadlogId; empty for an in-app message.
    package var broadlogID: Bytes { self.entry.broadlogID }
    /// The app's bundle id or package name; empty if the event has none.
    package var appID: Bytes { self.entry.appID }
    /// The recipient's id; empty if the event has none.
    package var subjectID: Bytes { self.entry.subjectID }
    /// The platform; nil if neither event nor payload has one.
    package var platform: Platform? { self.entry.platform }
    /// How the event reached the server.
    package var source: EventSource { self.entry.source }
    /// When it happened, in microseconds since 1970; nil if the event does not say.
    package var occurTime: Int64? { self.entry.occurTime }
}

/// A payload that is not in the journal's encoding.
package struct DamagedPayload: Error, CustomStringConvertible {
    /// The offset in its block, in bytes, where parsing failed.
    package let offset: Int
    /// A message for the log.
    package var description: String {
        "the journal's payload cannot be read at byte \(self.offset) of a block: an entry goes "
            + "beyond the end, or says what only a newer build knows"
    }
}

extension HitEncoding {
    /// Calls `body` for every hit of a payload in order; the hits of one event are adjacent.
    ///
    /// - Throws: `DamagedPayload` if the bytes are not in the journal's encoding; errors of `body`.
    package static func forEachHit(in payload: Bytes, _ body: (Hit) throws -> Void) throws {
        try Self.forEachEvent(in: payload) { event, request in
            try Self.forEachHit(of: event, request, body)
        }
    }

    @inline(__always)
    static func forEachHit(
        of event: JournalEvent, _ request: Hit.Request, _ body: (Hit) throws -> Void
    ) rethrows {
        var kinds = event.kinds.rawValue
        while kinds != 0 {
            let number = UInt8(truncatingIfNeeded: kinds.trailingZeroBitCount)
            kinds &= kinds &- 1
            // PayloadCursor has checked that the kinds are known.
            guard let kind = HitKind(rawValue: number) else { continue }
            try body(Hit(entry: event, kind: kind, request: request))
        }
    }

    /// Calls `body` for every event of a payload, in order, with its request. Cheaper
    /// than `forEachHit` when hits are only counted.
    ///
    /// - Throws: `DamagedPayload` if the bytes are not in the journal's encoding; errors of `body`.
    package static func forEachEvent(
        in payload: Bytes, _ body: (JournalEvent, Hit.Request) throws -> Void
    ) throws {
        var cursor = PayloadCursor(payload)
        while !cursor.isAtEnd {
            let block = try cursor.block()
            var entries = PayloadCursor(block.entries)
            for _ in 0..<block.entryCount { try body(try entries.entry(), block.request) }
        }
    }
}

extension HitEncoding {
    /// Calls `body` with the trace context of each request in a payload, in order, and skips
    /// requests without one. Reads only the blocks' headers; stops early if the payload is damaged.
    ///
    /// - Parameter body: returns false to stop.
    package static func forEachTrace(in payload: Bytes, _ body: (TraceContext) -> Bool) {
        var cursor = PayloadCursor(payload)
        while !cursor.isAtEnd {
            // Delivery reports the damage, with its offset.
            guard let request = try? cursor.block().request else { return }
            let trace = TraceContext(
                traceparent: request.traceparent, tracestate: request.tracestate)
            if let trace, !body(trace) { return }
        }
    }
}
