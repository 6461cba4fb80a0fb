package import WireFormat

/// An event's delivery and platform, parsed in place without its other fields. The funnel counters
/// and the sinks of lines read one for each event. Strings are not validated: that is left to who
/// uses them.
package struct DeliveryView {
    /// deliveryId, or an in-app message's message id.
    package private(set) var deliveryID = Bytes.none
    /// broadlogId; empty for an in-app message.
    package private(set) var broadlogID = Bytes.none
    /// Whether it happened on iOS (D39).
    package var isIOS: Bool {
        switch self.payload {
        case .apns: true
        case .fcm: false
        case .none, .raw: Platform(number: self.platform) == .ios
        }
    }

    private var interaction = Interaction.none
    private var payload = Payload.none
    private var platform: Int32 = 0

    private enum Interaction {
        case none
        case push
        case trackAction
        case inApp
    }

    private enum Payload {
        case none
        case apns
        case fcm
        case raw
    }

    /// Parses an event.
    ///
    /// - Throws: `WireError` if the bytes are not a protobuf message.
    package init(_ event: Bytes) throws(WireError) {
        var reader = WireReader(event)
        while let tag = try reader.nextTag() {
            switch tag {
            case 4 << 3 | 0: self.platform = try reader.int32()
            case 10 << 3 | 2:
                self.begin(.push)
                try self.readPush(try reader.message())
            case 11 << 3 | 2:
                self.begin(.trackAction)
                try self.readIDs(2, broadlog: 1, try reader.message())
            case 12 << 3 | 2:
                self.begin(.inApp)
                try self.readIDs(1, broadlog: nil, try reader.message())
            case 13 << 3 | 2 where self.payload == .raw:
                try self.readIDs(1, broadlog: 2, try reader.message())
            default: try reader.skip(tag)
            }
        }
    }

    // A oneof member that occurs again is merged; a different member replaces it.

    private mutating func begin(_ interaction: Interaction) {
        guard self.interaction != interaction else { return }
        self.interaction = interaction
        self.payload = .none
        (self.deliveryID, self.broadlogID) = (.none, .none)
    }

    private mutating func begin(_ payload: Payload) {
        guard self.payload != payload else { return }
        self.payload = payload
        (self.deliveryID, self.broadlogID) = (.none, .none)
    }

    private mutating func readPush(_ reader: consuming WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 1 << 3 | 2:
                self.begin(.apns)
                try self.readIDs(2, broadlog: 3, try reader.message())
            case 2 << 3 | 2:
                self.begin(.fcm)
                try self.readData(try reader.message())
            case 7 << 3 | 2:
                self.begin(.raw)
                try reader.skip(tag)
            default: try reader.skip(tag)
            }
        }
    }

    private mutating func readData(_ reader: consuming WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 4 << 3 | 2: try self.readIDs(1, broadlog: 2, try reader.message())
            default: try reader.skip(tag)
            }
        }
    }

    /// Reads the ids in the fields `delivery` and `broadlog` of a nested message.
    private mutating func readIDs(
        _ delivery: UInt32, broadlog: UInt32?, _ reader: consuming WireReader
    ) throws(WireError) {
        while let tag = try reader.nextTag() {
            if tag == delivery << 3 | 2 {
                self.deliveryID = try reader.slice()
            } else if tag >> 3 == broadlog, tag & 7 == WireType.lengthDelimited {
                self.broadlogID = try reader.slice()
            } else {
                try reader.skip(tag)
            }
        }
    }
}
