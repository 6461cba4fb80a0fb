package import WireFormat

/// An event in the journal's encoding: the client's bytes, the kinds of its hits, and the index of
/// its parts, which are slices of its bytes.
package struct JournalEvent {
    /// The key of the event's hits.
    package let key: HitKey
    /// The product that created the delivery; Firebase for an in-app message.
    package let product: Product
    /// The platform; that of its payload if the event has none (D39).
    package let platform: Platform?
    /// How it reached the server.
    package let source: EventSource
    /// The kinds of its hits.
    package let kinds: HitKinds
    /// Warnings about the event.
    package let warnings: Warnings
    /// The client's event, byte for byte, followed by what the server adds: the ids of a raw
    /// payload, the source of a postback.
    package let bytes: Bytes
    /// Where its parts are in `bytes`.
    let index: EventIndex

    init(
        key: HitKey, product: Product, platform: Platform?, source: EventSource, kinds: HitKinds,
        warnings: Warnings, bytes: Bytes, index: EventIndex
    ) {
        self.key = key
        self.product = product
        self.platform = platform
        self.source = source
        self.kinds = kinds
        self.warnings = warnings
        self.bytes = bytes
        self.index = index
    }

    /// Parses an event that is not in the journal's encoding, such as that of a dead letter or a
    /// stored row. It is the only way to an indexed event beside admission.
    ///
    /// - Throws: `WireError` if the bytes are not a TrackingEvent, or one that admission would
    ///   refuse because it is too large.
    package init(
        parsing bytes: Bytes, key: HitKey, kinds: HitKinds, warnings: Warnings
    ) throws(WireError) {
        let event = try EventView(bytes)
        var slicer = EventSlicer(bytes)
        let index = EventIndex(
            event, ids: (event.deliveryID, event.broadlogID), subject: event.subjectID, &slicer)
        guard slicer.fits else { throw .tooLarge }
        self.init(
            key: key, product: event.product, platform: event.effectivePlatform,
            source: EventSource(number: event.source), kinds: kinds, warnings: warnings,
            bytes: bytes, index: index)
    }

    /// The app's bundle id or package name; empty if the event has none.
    package var appID: Bytes { self.bytes.part(self.index.app) }

    /// deliveryId, or an in-app message's message id.
    package var deliveryID: Bytes { self.bytes.part(self.index.delivery) }

    /// broadlogId; empty for an in-app message.
    package var broadlogID: Bytes { self.bytes.part(self.index.broadlog) }

    /// The recipient's id; empty if the event has none.
    package var subjectID: Bytes { self.bytes.part(self.index.subject) }

    /// The action button's identifier, or the label of an in-app message's button, cut to 256
    /// bytes; empty if there was none.
    package var action: Bytes { self.bytes.part(self.index.action) }

    /// The name of an in-app message's campaign; empty if it has none.
    package var campaignName: Bytes { self.bytes.part(self.index.campaign) }

    /// When it happened, in microseconds since 1970; nil if the event does not say.
    package var occurTime: Int64? { self.index.occurTime }
}

// MARK: Keys

extension JournalEvent {
    /// The key of the plain notification, if the event belongs to one of its action buttons (D17).
    package func notificationKey(tenant: Bytes) -> HitKey {
        HitKey.push(
            tenant: tenant, product: self.product, appID: self.appID, deliveryID: self.deliveryID,
            broadlogID: self.broadlogID, actionIdentifier: .none)
    }

    /// The key by which an in-app message's recipients are counted.
    package func recipientKey(tenant: Bytes) -> HitKey {
        HitKey.recipient(
            tenant: tenant, appID: self.appID, messageID: self.deliveryID,
            subjectID: self.subjectID)
    }
}

// MARK: Removing the subject

extension JournalEvent {
    /// Calls `body` with the event without its subject. Only erased subjects are removed, so few
    /// events pay for this walk over their fields.
    ///
    /// - Throws: `WireError` if the bytes are not fields, and errors of `body`.
    package func withoutSubject<Value>(_ body: (JournalEvent) throws -> Value) throws -> Value {
        let change = try SubjectChange(of: self.bytes, to: [])
        return try change.bytes.withUnsafeBytes { bytes in
            try body(
                JournalEvent(
                    key: self.key, product: self.product, platform: self.platform,
                    source: self.source, kinds: self.kinds, warnings: self.warnings, bytes: bytes,
                    index: self.index.moved(by: change)))
        }
    }
}
