// A raw payload in an event: what was read of its JSON stands in the event's view, as a typed
// payload's facts do, and its ids behind the event in the journal.
internal import WireFormat

extension EventView {
    /// Reads the ids that admission has written behind an event with a raw payload. A client's own
    /// are before them, or in an event that is not admitted yet, whose ids are read from its JSON.
    mutating func mergeRawIDs(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.PayloadIds
        var ids: (delivery: Bytes?, message: Bytes?) = (nil, nil)
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.deliveryID: ids.delivery = try reader.string()
            case Field.messageID: ids.message = try reader.string()
            default: try reader.skip(tag)
            }
        }
        guard self.hasRawPayload else { return }
        self.push.fields.deliveryID = ids.delivery ?? self.push.fields.deliveryID
        self.push.fields.messageID = ids.message ?? self.push.fields.messageID
    }

    /// Whether the event's payload is raw, so that its facts have to be read from JSON.
    var hasRawPayload: Bool { self.push.payload == .raw }

    /// Calls `body` with the event, and with what was read of its payload if that is raw: the
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

/// A raw payload's ids in the field `raw_ids`. Behind the event they are a part of it, so that who
/// reads it later needs no JSON. Each id has at most 64 bytes.
struct RawIDs {
    /// The field.
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

    /// Tells an index where the ids are behind an event of `count` bytes; false if that is too far
    /// from its start.
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
