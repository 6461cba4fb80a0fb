package import WireFormat

/// The label of the button that an in-app click chose, parsed in place without the event's other
/// fields. The funnel counters read one for each in-app click, and for nothing else. It is not
/// validated: admission did that.
package struct ActionTextView {
    /// The label; empty if the action has none.
    package private(set) var text = Bytes.none

    /// Parses an event.
    ///
    /// - Throws: `WireError` if the bytes are not a protobuf message.
    package init(_ event: Bytes) throws(WireError) {
        var reader = WireReader(event)
        while let tag = try reader.nextTag() {
            switch tag {
            case 12 << 3 | 2: try self.readInApp(try reader.message())
            // Another member of the oneof replaces what was merged so far.
            case 10 << 3 | 2, 11 << 3 | 2:
                self.text = .none
                try reader.skip(tag)
            default: try reader.skip(tag)
            }
        }
    }

    private mutating func readInApp(_ reader: consuming WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 11 << 3 | 2: try self.readClick(try reader.message())
            case 10 << 3 | 2, 12 << 3 | 2, 13 << 3 | 2:
                self.text = .none
                try reader.skip(tag)
            default: try reader.skip(tag)
            }
        }
    }

    private mutating func readClick(_ reader: consuming WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            if tag == 1 << 3 | 2 {
                self.text = try reader.slice()
            } else {
                try reader.skip(tag)
            }
        }
    }
}
