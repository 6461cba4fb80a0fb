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
    /// What triggered it, as a number of the proto enum.
    package var triggerKind: Int32 = 0
    /// How it is laid out, as a number of the proto enum.
    package var layout: Int32 = 0
    /// What a display error says of itself; empty without one.
    package var displayError = DisplayError()

    /// The `event` oneof.
    package enum Event: Equatable {
        case none
        case impression
        /// A click, with a URL or without: without one it counts as a dismissal (D25).
        case click(hasURL: Bool)
        case dismissal
        case displayError
        case triggered
        case suppressed
    }

    /// An InAppDisplayError.
    package struct DisplayError {
        /// Why it could not be shown, as a number of the proto enum.
        package var reason: Int32 = 0
        /// Why it could not be fetched, as a number of the proto enum.
        package var fetchReason: Int32 = 0
        /// The SDK's own text.
        package var detail = Bytes.none
    }

    mutating func merge(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.InAppInteraction
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.messageID: self.messageID = try reader.string()
            case Field.campaignName: self.campaignName = try reader.string()
            case Field.testMessage: self.isTestMessage = try reader.varint() != 0
            case Field.appData: try self.appData.add(try reader.mapEntry())
            case Field.triggerEvent: self.triggerEvent = try reader.string()
            case Field.displaySuppressed: self.isDisplaySuppressed = try reader.varint() != 0
            case Field.dataCollectionEnabled: self.dataCollectionEnabled = try reader.varint() != 0
            case Field.impression: try self.check(try reader.message(), as: .impression)
            case Field.click: try self.mergeClick(try reader.message())
            case Field.dismissal:
                try self.check(
                    try reader.message(), FieldTag.InAppDismissal.wireTypes, as: .dismissal)
            case Field.displayError: try self.mergeDisplayError(try reader.message())
            case Field.triggered: try self.check(try reader.message(), as: .triggered)
            case Field.suppressed: try self.check(try reader.message(), as: .suppressed)
            case Field.triggerKind: self.triggerKind = try reader.int32()
            case Field.layout: self.layout = try reader.int32()
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }

    /// Checks a member whose fields no rule reads: its bytes must be valid fields.
    private mutating func check(
        _ reader: consuming WireReader, _ wireTypes: UInt64 = WireType.ofNoField, as event: Event
    ) throws(WireError) {
        while let tag = try reader.nextTag() { try reader.skip(tag, in: wireTypes) }
        self.begin(event)
    }

    /// Replaces another member of the oneof, with what was read of it.
    private mutating func begin(_ event: Event) {
        if event != .displayError { self.displayError = DisplayError() }
        self.actionText = .none
        self.event = event
    }

    private mutating func mergeDisplayError(
        _ reader: consuming WireReader
    ) throws(WireError) {
        typealias Field = FieldTag.InAppDisplayError
        self.begin(.displayError)
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.reason: self.displayError.reason = try reader.int32()
            case Field.fetchReason: self.displayError.fetchReason = try reader.int32()
            case Field.detail: self.displayError.detail = try reader.string()
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }

    private mutating func mergeClick(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.InAppClick
        var hasURL = self.event == .click(hasURL: true)
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.actionText: self.actionText = try reader.string()
            case Field.actionURL: hasURL = !(try reader.string()).isEmpty
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
        self.event = .click(hasURL: hasURL)
        self.displayError = DisplayError()
    }
}
