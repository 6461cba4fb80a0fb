// Raw payloads: the facts read from the JSON are put into the event's view, as those of a typed
// payload are. Its ids are appended to the event in the journal.
package import WireFormat

extension EventView {
    /// Reads the ids that admission appended to an event with a raw payload. A client may have sent
    /// this field itself; admission's copy comes later and so wins. Before admission, the ids are
    /// read from the JSON.
    mutating func mergeRawIDs(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.PayloadIds
        var ids: (delivery: Bytes?, message: Bytes?) = (nil, nil)
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.deliveryID: ids.delivery = try reader.string()
            case Field.messageID: ids.message = try reader.string()
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
        guard self.hasRawPayload else { return }
        self.push.fields.deliveryID = ids.delivery ?? self.push.fields.deliveryID
        self.push.fields.messageID = ids.message ?? self.push.fields.messageID
    }

    /// Whether the event's payload is raw, so that its facts are read from JSON.
    var hasRawPayload: Bool { self.push.payload == .raw }

    /// Whether a push notification was dismissed.
    package var isDismissal: Bool {
        self.interaction == .push && self.push.kind == Self.dismissed
    }

    /// PUSH_INTERACTION_KIND_DISMISSED.
    private static let dismissed: Int32 = 2

    /// Calls `body` with a push notification's chosen button and its link, also of a raw payload.
    /// Admission took it, so the limits are the highest that a configuration may have.
    package func withPushUse<Value>(_ body: (_ button: Bytes, _ link: Bytes) -> Value) -> Value {
        var limits = Limits()
        limits.rawPayloadBytes = 64 << 10
        limits.rawPayloadLevels = 100
        return self.withRawPayload(limits) { event, _ in
            body(event.push.actionIdentifier, event.push.fields.uri)
        }
    }

    /// Calls `body` with the event and with the reading of its raw payload, if it has one. The
    /// event's views then hold the payload's ids, flag and media.
    func withRawPayload<Value>(
        _ limits: Limits, _ body: (EventView, RawPayload?) -> Value
    ) -> Value {
        guard self.hasRawPayload else { return body(self, nil) }
        let raw = RawPayload(
            self.push.json, platform: Platform(number: self.platform), limits: limits)
        return raw.withView { fields in
            var event = self
            event.push.fields = fields
            return body(event, raw)
        }
    }
}

/// The ids of a raw payload, as the field `raw_ids`. It is appended to the event, so that later
/// readers need no JSON. Each id has at most 64 bytes.
struct RawIDs {
    /// The encoded field.
    let field: [UInt8]
    private let delivery: Range<Int>
    private let broadlog: Range<Int>

    /// The ids of an event whose payload was read.
    init(_ event: EventView) {
        var (ids, field) = ([UInt8](), [UInt8]())
        let delivery = ids.place(FieldTag.PayloadIds.deliveryID, event.deliveryID)
        let broadlog = ids.place(FieldTag.PayloadIds.messageID, event.broadlogID)
        let start = ids.withUnsafeBytes { field.place(FieldTag.TrackingEvent.rawIDs, $0) }
            .lowerBound
        self.field = field
        self.delivery = start + delivery.lowerBound..<start + delivery.upperBound
        self.broadlog = start + broadlog.lowerBound..<start + broadlog.upperBound
    }

    /// Writes the ids' offsets into the index of an event of `count` bytes, behind which the field
    /// is appended. False if an offset is too large for the index.
    func setPlaces(in index: inout EventIndex, behind count: Int) -> Bool {
        guard
            let delivery = EventSlice(
                offset: count + self.delivery.lowerBound, length: self.delivery.count),
            let broadlog = EventSlice(
                offset: count + self.broadlog.lowerBound, length: self.broadlog.count)
        else { return false }
        index.setRawIDs(delivery: delivery, broadlog: broadlog)
        return true
    }
}

extension [UInt8] {
    /// Appends a length-delimited field.
    ///
    /// - Returns: where its value is.
    fileprivate mutating func place(_ tag: UInt32, _ value: Bytes) -> Range<Int> {
        self.appendField(tag, value)
        return self.count - value.count..<self.count
    }
}
