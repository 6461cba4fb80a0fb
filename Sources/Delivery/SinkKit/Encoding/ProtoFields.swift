internal import TrackingRules
internal import WireFormat

/// What a decoder takes of a message's fields: the last of those that occur again, with messages
/// merged, and of a oneof the last member. Maps have all their entries, the last one of a key last.
/// So an event of any form becomes one that ProtoJSONWriter takes. SwiftProtobuf, which does the
/// same, would compare a map's keys as Swift's strings, and join those that look alike.
struct ProtoFields {
    private enum Value {
        case number(UInt64)
        case bytes(Bytes)
        case message(ProtoFields)
        case map([MapEntry])
    }

    private let schema: ProtoJSONSchema
    /// The values by their tags.
    private var values: [UInt32: Value] = [:]
    /// The tag of each oneof's member, by the oneof's bit.
    private var members: [UInt64: UInt32] = [:]

    /// A message without fields.
    init(of schema: ProtoJSONSchema) { self.schema = schema }

    // MARK: Reading

    /// Adds the fields of a message; unknown ones are left out.
    ///
    /// - Parameter index: the message's index in the schema.
    /// - Throws: `WireError`.
    mutating func merge(_ message: consuming WireReader, as index: Int) throws(WireError) {
        var reader = message
        let part = self.schema.messages[index]
        while let tag = try reader.nextTag() {
            let number = tag >> 3
            let field =
                number < part.count ? self.schema.fields[part.start &+ Int(number)] : .unknown
            guard field.kind != .unknown, tag & 7 == field.wireType else {
                try reader.skip(tag)
                continue
            }
            if field.oneof != 0 { self.choose(tag, of: field.oneof) }
            self.values[tag] = try self.value(field, tag, &reader)
        }
    }

    /// Removes another member of a oneof.
    private mutating func choose(_ tag: UInt32, of oneof: UInt64) {
        if let other = self.members[oneof], other != tag { self.values[other] = nil }
        self.members[oneof] = tag
    }

    /// The value of a field that is read, with what the field has already: that is taken out, so
    /// that it grows in place. A copy for each entry would cost the square of a map's entries.
    private mutating func value(
        _ field: ProtoJSONSchema.Field, _ tag: UInt32, _ reader: inout WireReader
    ) throws(WireError) -> Value {
        switch field.kind {
        case .bool, .int32, .enumeration: return .number(try reader.varint())
        case .string: return .bytes(try reader.string())
        case .message:
            var fields = self.takeFields(tag)
            try fields.merge(try reader.message(), as: field.target)
            return .message(fields)
        case .timestamp:
            var fields = self.takeFields(tag)
            try fields.mergeTime(try reader.message())
            return .message(fields)
        case .stringMap:
            var entries: [MapEntry] = []
            if case .map(let known)? = self.values.removeValue(forKey: tag) { entries = known }
            entries.append(try MapEntry(try reader.mapEntry()))
            return .map(entries)
        case .bytes, .unknown, .other: return .bytes(try reader.slice())
        }
    }

    /// The fields of a message that occurred before.
    private mutating func takeFields(_ tag: UInt32) -> ProtoFields {
        if case .message(let known)? = self.values.removeValue(forKey: tag) { return known }
        return ProtoFields(of: self.schema)
    }

    private mutating func mergeTime(_ message: consuming WireReader) throws(WireError) {
        var reader = message
        while let tag = try reader.nextTag() {
            switch tag {
            case FieldTag.Timestamp.seconds, FieldTag.Timestamp.nanos:
                self.values[tag] = .number(try reader.varint())
            default: try reader.skip(tag)
            }
        }
    }

    // MARK: Writing

    /// The message with its fields in the order of their numbers.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for (tag, value) in self.values.sorted(by: { $0.key < $1.key }) {
            switch value {
            case .number(let number):
                bytes.appendVarint(UInt64(tag))
                bytes.appendVarint(number)
            case .bytes(let slice): bytes.appendField(tag, slice)
            case .message(let fields): bytes.appendField(tag, fields.encoded)
            case .map(let entries):
                for entry in entries { bytes.appendField(tag, entry.encoded) }
            }
        }
        return bytes
    }
}

extension MapEntry {
    /// The entry's bytes without its own tag.
    fileprivate var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendField(FieldTag.MapEntry.key, self.key)
        bytes.appendField(FieldTag.MapEntry.value, self.value)
        return bytes
    }
}
