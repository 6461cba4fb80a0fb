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
    /// InAppFetchErrorReason; 0 if unspecified, or if there was no error.
    package private(set) var fetchErrorReason: UInt64 = 0
    /// InAppTriggerKind; 0 if unspecified.
    package private(set) var triggerKind: UInt64 = 0
    /// InAppLayout; 0 if unspecified.
    package private(set) var layout: UInt64 = 0

    /// Parses an event.
    ///
    /// - Throws: `WireError` if the bytes are not a protobuf message.
    package init(_ event: Bytes) throws(WireError) {
        typealias Field = FieldTag.TrackingEvent
        var reader = WireReader(event)
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.inApp: try self.readInApp(try reader.message())
            default: try reader.skip(tag)
            }
        }
    }

    private mutating func readInApp(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.InAppInteraction
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.triggerEvent: self.triggerEvent = try reader.slice()
            case Field.triggerKind: self.triggerKind = try reader.varint()
            case Field.layout: self.layout = try reader.varint()
            case Field.click: try self.readClick(try reader.message())
            case Field.dismissal:
                self.dismissType = try Self.number(
                    FieldTag.InAppDismissal.type, of: try reader.message())
            case Field.displayError: try self.readDisplayError(try reader.message())
            default: try reader.skip(tag)
            }
        }
    }

    private mutating func readClick(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.InAppClick
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.actionText: self.actionText = try reader.slice()
            case Field.actionURL: self.actionURL = try reader.slice()
            default: try reader.skip(tag)
            }
        }
    }

    private mutating func readDisplayError(
        _ reader: consuming WireReader
    ) throws(WireError) {
        typealias Field = FieldTag.InAppDisplayError
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.reason: self.errorReason = try reader.varint()
            case Field.fetchReason: self.fetchErrorReason = try reader.varint()
            default: try reader.skip(tag)
            }
        }
    }

    /// The number in a field of a message; 0 without it.
    private static func number(
        _ field: UInt32, of reader: consuming WireReader
    ) throws(WireError) -> UInt64 {
        var number: UInt64 = 0
        while let tag = try reader.nextTag() {
            if tag == field { number = try reader.varint() } else { try reader.skip(tag) }
        }
        return number
    }
}
