package import WireFormat

/// An InAppInteraction parsed in place.
package struct InAppView {
    /// The campaign's message id.
    package var messageID = Bytes.none
    /// The campaign's name.
    package var campaignName = Bytes.none
    /// Whether it was shown as a test message on a test device.
    package var isTestMessage = false
    /// The sizes of the campaign's metadata.
    package var appData = MapMeasure()
    /// The analytics event that triggered the message.
    package var triggerEvent = Bytes.none
    /// Whether the app suppressed display.
    package var isDisplaySuppressed = false
    /// Whether the user allows data collection; nil if absent.
    package var dataCollectionEnabled: Bool?
    /// What happened to the message.
    package var event = Event.none
    /// The label of the button that a click chose; empty if it has none.
    package var actionText = Bytes.none

    /// The `event` oneof.
    package enum Event: Equatable {
        case none
        case impression
        /// A click, with a URL or without: without one it counts as a dismissal (D25).
        case click(hasURL: Bool)
        case dismissal
        case displayError
    }

    mutating func merge(_ reader: consuming WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 1 << 3 | 2: self.messageID = try reader.string()
            case 2 << 3 | 2: self.campaignName = try reader.string()
            case 3 << 3 | 0: self.isTestMessage = try reader.varint() != 0
            case 4 << 3 | 2: try self.appData.add(try reader.mapEntry())
            case 5 << 3 | 2: self.triggerEvent = try reader.string()
            case 6 << 3 | 0: self.isDisplaySuppressed = try reader.varint() != 0
            case 7 << 3 | 0: self.dataCollectionEnabled = try reader.varint() != 0
            case 10 << 3 | 2: try self.check(try reader.message(), as: .impression)
            case 11 << 3 | 2: try self.mergeClick(try reader.message())
            case 12 << 3 | 2: try self.check(try reader.message(), as: .dismissal)
            case 13 << 3 | 2: try self.check(try reader.message(), as: .displayError)
            default: try reader.skip(tag)
            }
        }
    }

    /// Checks a member whose fields no rule reads: its bytes must be valid fields.
    private mutating func check(
        _ reader: consuming WireReader, as event: Event
    ) throws(WireError) {
        while let tag = try reader.nextTag() { try reader.skip(tag) }
        (self.event, self.actionText) = (event, .none)
    }

    private mutating func mergeClick(_ reader: consuming WireReader) throws(WireError) {
        var hasURL = self.event == .click(hasURL: true)
        while let tag = try reader.nextTag() {
            switch tag {
            case 1 << 3 | 2: self.actionText = try reader.string()
            case 2 << 3 | 2: hasURL = !(try reader.string()).isEmpty
            default: try reader.skip(tag)
            }
        }
        self.event = .click(hasURL: hasURL)
    }
}
