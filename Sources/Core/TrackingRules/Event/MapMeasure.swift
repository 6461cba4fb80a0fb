package import WireFormat

/// The sizes of a map<string, string> that the rules limit, measured on the wire without decoding
/// it. A key that occurs twice counts twice; `exact` corrects that when a limit seems exceeded.
package struct MapMeasure: Equatable {
    /// The number of entries.
    package var count = 0
    /// The bytes of the longest key.
    package var longestKey = 0
    /// The bytes of the longest value.
    package var longestValue = 0

    /// Measures an entry.
    ///
    /// - Returns: the entry.
    @discardableResult
    mutating func add(_ reader: consuming WireReader) throws(WireError) -> MapEntry {
        let entry = try MapEntry(reader)
        self.count &+= 1
        self.longestKey = max(self.longestKey, entry.key.count)
        self.longestValue = max(self.longestValue, entry.value.count)
        return entry
    }

    /// Measures an event's map as a decoder would: the last entry with a key wins. It allocates, so
    /// it is called only when the wire measure exceeds a limit.
    static func exact(of event: Bytes, _ map: EventMap = .customFields) -> MapMeasure {
        let fields = (try? MapEntry.all(of: event, map)) ?? [:]  // Parsed before: cannot fail.
        var measure = MapMeasure()
        measure.count = fields.count
        measure.longestKey = fields.keys.lazy.map(\.count).max() ?? 0
        measure.longestValue = fields.values.max() ?? 0
        return measure
    }
}

/// The maps of an event, of which one is measured at a time.
enum EventMap {
    /// The custom fields, or an in-app message's app data.
    case customFields
    /// The other fields of APNs' `aps`.
    case otherFields
}

/// One entry of a map<string, string>. A key is its bytes: no two keys that differ are one.
package struct MapEntry {
    /// The key; empty if the entry has none.
    package private(set) var key = Bytes.none
    /// The value; empty if the entry has none.
    package private(set) var value = Bytes.none

    /// Parses an entry. It refuses a key or value of a wrong wire type: SwiftProtobuf reads the
    /// bytes behind its tag as the next tag, and other parsers skip it or refuse it.
    ///
    /// - Throws: `WireError` if the bytes are no entry.
    package init(_ reader: consuming WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case FieldTag.MapEntry.key: self.key = try reader.string()
            case FieldTag.MapEntry.value: self.value = try reader.string()
            default:
                guard tag >> 3 > 2 else { throw .malformed }
                try reader.skip(tag)
            }
        }
    }

    /// A map of an event: each value's length by key. Oneof members are merged as in the views: the
    /// same member again is merged, another one starts over.
    static func all(of event: Bytes, _ map: EventMap) throws(WireError) -> [[UInt8]: Int] {
        var fields: [[UInt8]: Int] = [:]
        var interaction = EventView.Interaction.none
        var payload: UInt32 = 0
        var reader = WireReader(event)
        while let tag = try reader.nextTag() {
            guard let member = EventView.Interaction(tag: tag) else {
                try reader.skip(tag)
                continue
            }
            if member != interaction { (fields, payload) = ([:], 0) }
            interaction = member
            let body = try reader.message()
            if member == .push { try Self.addPush(body, map, &fields, &payload) }
            if member == .inApp, map == .customFields {
                try Self.addEntries(of: FieldTag.InAppInteraction.appData, body, &fields)
            }
        }
        return fields
    }

    private static func addPush(
        _ reader: consuming WireReader, _ map: EventMap, _ fields: inout [[UInt8]: Int],
        _ payload: inout UInt32
    ) throws(WireError) {
        typealias Field = FieldTag.PushInteraction
        while let tag = try reader.nextTag() {
            guard [Field.apns, Field.fcm, Field.raw].contains(tag) else {
                try reader.skip(tag)
                continue
            }
            if tag != payload { fields = [:] }
            payload = tag
            let body = try reader.message()
            switch (tag, map) {
            case (Field.apns, .customFields):
                try Self.addEntries(of: FieldTag.ApnsPayload.customFields, body, &fields)
            case (Field.apns, .otherFields):
                try Self.addEntries(
                    of: FieldTag.Aps.otherFields, in: FieldTag.ApnsPayload.aps, body, &fields)
            case (Field.fcm, .customFields):
                try Self.addEntries(
                    of: FieldTag.FcmData.customFields, in: FieldTag.FcmPayload.data, body, &fields)
            default: break
            }
        }
    }

    /// Adds the entries of a map of the message in the field `message`.
    private static func addEntries(
        of map: UInt32, in message: UInt32, _ reader: consuming WireReader,
        _ fields: inout [[UInt8]: Int]
    ) throws(WireError) {
        while let tag = try reader.nextTag() {
            guard tag == message else {
                try reader.skip(tag)
                continue
            }
            try Self.addEntries(of: map, try reader.message(), &fields)
        }
    }

    private static func addEntries(
        of map: UInt32, _ reader: consuming WireReader, _ fields: inout [[UInt8]: Int]
    ) throws(WireError) {
        while let tag = try reader.nextTag() {
            guard tag == map else {
                try reader.skip(tag)
                continue
            }
            let entry = try MapEntry(try reader.mapEntry())
            fields[[UInt8](entry.key)] = entry.value.count
        }
    }
}
