/// A RawPayload parsed in place; the JSON itself is read by `RawPayload`.
package struct RawPayloadView {
    /// The payload as JSON.
    package var json = Bytes.none
    /// What the rules read of it: the ids alone in an event that the journal holds.
    package var payload = PushView.PayloadView()

    mutating func merge(_ reader: consuming WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 1 << 3 | 2: self.json = try reader.slice()
            default: try reader.skip(tag)
            }
        }
    }
}

extension EventView {
    /// Reads the ids that admission has written behind an event with a raw payload. A client's own
    /// are before them, or in an event that is not admitted yet, whose ids are read from its JSON.
    mutating func mergeRawIDs(_ reader: consuming WireReader) throws(WireError) {
        var ids: (delivery: Bytes?, message: Bytes?) = (nil, nil)
        while let tag = try reader.nextTag() {
            switch tag {
            case 1 << 3 | 2: ids.delivery = try reader.string()
            case 2 << 3 | 2: ids.message = try reader.string()
            default: try reader.skip(tag)
            }
        }
        guard case .push(var push) = self.interaction, case .raw(var raw) = push.payload else {
            return
        }
        raw.payload.deliveryID = ids.delivery ?? raw.payload.deliveryID
        raw.payload.messageID = ids.message ?? raw.payload.messageID
        push.payload = .raw(raw)
        self.interaction = .push(push)
    }

    /// Whether the event's payload is raw, so that its facts have to be read from JSON.
    var hasRawPayload: Bool {
        guard case .push(let push) = self.interaction, case .raw = push.payload else {
            return false
        }
        return true
    }

    /// Calls `body` with the event, and with what was read of its payload if that is raw: the
    /// event's views then hold the payload's ids, flag and media.
    func withRawPayload<Value>(
        _ limits: Limits, _ body: (EventView, RawPayload?) -> Value
    ) -> Value {
        guard case .push(var push) = self.interaction, case .raw(let view) = push.payload else {
            return body(self, nil)
        }
        let raw = RawPayload(
            view.json, platform: Platform(number: self.platform), limits: limits)
        return raw.withView { payload in
            push.payload = .raw(RawPayloadView(json: view.json, payload: payload))
            var event = self
            event.interaction = .push(push)
            return body(event, raw)
        }
    }

    /// The event's ids in the field `raw_ids`. Behind the event they are a part of it, so that who
    /// reads it later needs no JSON. Each id has at most 64 bytes.
    var rawIDs: [UInt8] {
        var ids: [UInt8] = []
        ids.appendField(1, self.deliveryID)
        ids.appendField(2, self.broadlogID)
        var field: [UInt8] = []
        ids.withUnsafeBytes { field.appendField(13, $0) }
        return field
    }
}

extension [UInt8] {
    /// Appends a length-delimited field of less than 16 KiB, whose number is below 16.
    fileprivate mutating func appendField(_ number: UInt8, _ value: Bytes) {
        self.append(number << 3 | 2)
        if value.count >= 0x80 {
            self.append(UInt8(truncatingIfNeeded: value.count) | 0x80)
            self.append(UInt8(truncatingIfNeeded: value.count >> 7))
        } else {
            self.append(UInt8(truncatingIfNeeded: value.count))
        }
        self.append(contentsOf: value)
    }
}
