/// A RawPayload parsed in place; the JSON itself is read by `RawPayload`.
package struct RawPayloadView {
    /// The payload as JSON.
    package var json = Bytes.none
    /// What the rules read of it. The ids alone in an event that the journal holds, which has them
    /// behind what the client sent; a client's own are replaced.
    package var payload = PushView.PayloadView()

    mutating func merge(_ reader: consuming WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 1 << 3 | 2: self.json = try reader.slice()
            case 2 << 3 | 2: self.payload.deliveryID = try reader.string()
            case 3 << 3 | 2: self.payload.messageID = try reader.string()
            default: try reader.skip(tag)
            }
        }
    }
}

extension EventView {
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

    /// The bytes of a RawPayload with the event's ids. Behind the event they are merged into it,
    /// so that who reads it later needs no JSON. Each id has at most 64 bytes.
    var rawIDs: [UInt8] {
        let (delivery, message) = (self.deliveryID, self.broadlogID)
        var payload: [UInt8] = []
        payload.appendField(2, delivery)
        payload.appendField(3, message)
        for field: UInt8 in [7, 10] {
            let inner = payload
            payload = []
            inner.withUnsafeBytes { payload.appendField(field, $0) }
        }
        return payload
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
