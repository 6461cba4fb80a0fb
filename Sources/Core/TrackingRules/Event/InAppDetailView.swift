package import WireFormat

/// How an in-app message was used, parsed in place without the event's other fields. It is not
/// validated: admission did that.
package struct InAppDetailView {
    /// The analytics event that triggered the message.
    package private(set) var triggerEvent = Bytes.none
    /// The label of the chosen button.
    package private(set) var actionText = Bytes.none
    /// The URL of the chosen action, which tells a card's links apart.
    package private(set) var actionURL = Bytes.none
    /// InAppDismissType; 0 if unspecified, or if it was not dismissed.
    package private(set) var dismissType: UInt64 = 0
    /// InAppRenderErrorReason; 0 if unspecified, or if there was no error.
    package private(set) var errorReason: UInt64 = 0

    /// Parses an event.
    ///
    /// - Throws: `WireError` if the bytes are not a protobuf message.
    package init(_ event: Bytes) throws(WireError) {
        var reader = WireReader(event)
        while let tag = try reader.nextTag() {
            switch tag {
            case 12 << 3 | 2: try self.readInApp(try reader.message())
            default: try reader.skip(tag)
            }
        }
    }

    private mutating func readInApp(_ reader: consuming WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 5 << 3 | 2: self.triggerEvent = try reader.slice()
            case 11 << 3 | 2: try self.readClick(try reader.message())
            case 12 << 3 | 2: self.dismissType = try Self.number(try reader.message())
            case 13 << 3 | 2: self.errorReason = try Self.number(try reader.message())
            default: try reader.skip(tag)
            }
        }
    }

    private mutating func readClick(_ reader: consuming WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 1 << 3 | 2: self.actionText = try reader.slice()
            case 2 << 3 | 2: self.actionURL = try reader.slice()
            default: try reader.skip(tag)
            }
        }
    }

    /// The number in the message's first field.
    private static func number(_ reader: consuming WireReader) throws(WireError) -> UInt64 {
        var number: UInt64 = 0
        while let tag = try reader.nextTag() {
            if tag == 1 << 3 | 0 { number = try reader.varint() } else { try reader.skip(tag) }
        }
        return number
    }
}
