internal import TrackingRules
package import WireFormat

/// Writes protobuf messages as proto3 JSON straight from the wire, without decoding them.
///
/// The text is that of SwiftProtobuf, the reference, with the keys of maps in the order of their
/// bytes. What is legal and seldom sent is not taken: fields out of order or repeated, wrong wire
/// types, groups, two members of a oneof. `ProtoFields` brings such a message into order.
/// JSONLinesPropertyTests holds this and SwiftProtobuf together.
package struct ProtoJSONWriter: ~Copyable {
    /// What is written so far.
    package var text = TextBuffer()
    private let schema: ProtoJSONSchema
    /// The schema's texts: as an array, each use would count references.
    private let names: TextBuffer
    /// The entries of the map being written.
    private var entries: [Entry] = []

    /// An entry of a map.
    private struct Entry {
        var key = Bytes.none
        var value = Bytes.none
    }

    /// Why a message is not written.
    private enum Unwritten: Error {
        case unusual
    }

    /// A writer of the schema's messages.
    package init(_ schema: ProtoJSONSchema) {
        self.schema = schema
        var names = TextBuffer(capacity: schema.texts.count)
        schema.texts.withUnsafeBytes { names.append($0) }
        self.names = names
    }

    /// Appends a message as a JSON object.
    ///
    /// - Parameter index: the message's index in the schema.
    /// - Returns: false, and appends nothing, if the message is unusual or malformed.
    package mutating func append(_ message: Bytes, as index: Int) -> Bool {
        let start = self.text.count
        do {
            try self.write(WireReader(message), as: index)
            return true
        } catch {
            self.text.truncate(to: start)
            return false
        }
    }

    /// The same message with its fields in order, each once; nil if it is malformed.
    ///
    /// - Parameter index: the message's index in the schema.
    package func ordered(_ message: Bytes, as index: Int) -> [UInt8]? {
        do {
            var fields = ProtoFields(of: self.schema)
            try fields.merge(WireReader(message), as: index)
            return fields.encoded
        } catch {
            return nil
        }
    }

    private mutating func write(_ message: consuming WireReader, as index: Int) throws {
        var reader = message
        let part = self.schema.messages[index]
        self.text.append(UInt8(ascii: "{"))
        var isFirst = true
        var last: UInt32 = 0
        var oneofs: UInt64 = 0
        while let tag = try reader.nextTag() {
            let number = tag >> 3
            let field =
                number < part.count ? self.schema.fields[part.start &+ Int(number)] : .unknown
            guard field.kind != .unknown else {
                guard tag & 7 != WireType.startGroup else { throw Unwritten.unusual }
                try reader.skip(tag)
                continue
            }
            // In this order each field is met once, and where SwiftProtobuf writes it.
            guard tag & 7 == field.wireType, number > last, oneofs & field.oneof == 0 else {
                throw Unwritten.unusual
            }
            last = number
            oneofs |= field.oneof
            if try self.write(field, tag, isFirst, &reader) { isFirst = false }
        }
        self.text.append(UInt8(ascii: "}"))
    }

    /// Writes a field and its name.
    ///
    /// - Returns: whether it is written: zero mostly is not.
    @inline(__always)
    private mutating func write(
        _ field: ProtoJSONSchema.Field, _ tag: UInt32, _ isFirst: Bool, _ reader: inout WireReader
    ) throws -> Bool {
        switch field.kind {
        case .string:
            let value = try reader.slice()
            guard field.hasPresence || !value.isEmpty else { return false }
            self.append(lead: field, isFirst)
            try self.text.append(escaping: value)
            self.text.append(UInt8(ascii: "\""))
        case .bool:
            let value = try reader.varint() != 0
            guard field.hasPresence || value else { return false }
            self.append(lead: field, isFirst)
            self.text.append(value ? "true" : "false")
        case .int32, .enumeration:
            let value = try reader.int32()
            guard field.hasPresence || value != 0 else { return false }
            self.append(lead: field, isFirst)
            self.append(number: value, of: field)
        case .message:
            self.append(lead: field, isFirst)
            try self.write(try reader.message(), as: field.target)
        case .timestamp:
            self.append(lead: field, isFirst)
            try self.writeTime(try reader.message())
        case .stringMap:
            try self.readEntries(&reader, tag)
            self.append(lead: field, isFirst)
            try self.writeEntries()
        case .bytes:
            let value = try reader.slice()
            guard field.hasPresence || !value.isEmpty else { return false }
            self.append(lead: field, isFirst)
            self.text.append(UInt8(ascii: "\""))
            self.text.append(base64: value)
            self.text.append(UInt8(ascii: "\""))
        case .unknown, .other: throw Unwritten.unusual
        }
        return true
    }

    /// Appends a field's name, without its comma where it is an object's first.
    @inline(__always)
    private mutating func append(lead field: ProtoJSONSchema.Field, _ isFirst: Bool) {
        let comma = isFirst ? 1 : 0
        self.append(
            ProtoJSONSchema.Text(
                start: field.lead.start &+ comma, count: field.lead.count &- comma))
    }

    @inline(__always)
    private mutating func append(_ part: ProtoJSONSchema.Text) {
        self.text.append(padded: self.names.place(part.start), count: part.count)
    }

    @inline(__always)
    private mutating func append(number: Int32, of field: ProtoJSONSchema.Field) {
        if field.kind == .enumeration {
            let values = self.schema.enumerations[field.target]
            if number >= 0, number < values.count {
                let name = self.schema.values[values.start &+ Int(number)]
                if name.count > 0 { return self.append(name) }
            }
        }
        self.text.append(number: Int64(number))
    }

    private mutating func writeTime(_ message: consuming WireReader) throws {
        var reader = message
        var seconds: Int64 = 0
        var nanos: Int32 = 0
        while let tag = try reader.nextTag() {
            switch tag {
            case FieldTag.Timestamp.seconds: seconds = Int64(bitPattern: try reader.varint())
            case FieldTag.Timestamp.nanos: nanos = try reader.int32()
            default: throw Unwritten.unusual
            }
        }
        guard self.text.append(seconds: seconds, nanos: nanos) else { throw Unwritten.unusual }
    }

    // MARK: Maps

    /// Reads a map's entry, whose tag has been read, and those that follow it directly.
    private mutating func readEntries(_ reader: inout WireReader, _ tag: UInt32) throws {
        self.entries.removeAll(keepingCapacity: true)
        while true {
            var fields = try reader.mapEntry()
            var entry = Entry()
            var last: UInt32 = 0
            while let field = try fields.nextTag() {
                guard field >> 3 > last else { throw Unwritten.unusual }
                last = field >> 3
                switch field {
                case FieldTag.MapEntry.key: entry.key = try fields.slice()
                case FieldTag.MapEntry.value: entry.value = try fields.slice()
                default: throw Unwritten.unusual
                }
            }
            self.entries.append(entry)
            var ahead = reader
            guard try ahead.nextTag() == tag else { return }
            reader = ahead
        }
    }

    private mutating func writeEntries() throws {
        if self.entries.count > 1 { try self.sortEntries() }
        self.text.append(UInt8(ascii: "{"))
        for index in self.entries.indices {
            if index > 0 { self.text.append(UInt8(ascii: ",")) }
            try self.text.append(quoting: self.entries[index].key)
            self.text.append(UInt8(ascii: ":"))
            try self.text.append(quoting: self.entries[index].value)
        }
        self.text.append(UInt8(ascii: "}"))
    }

    /// Brings the entries into the order of their keys' bytes. Of a key that occurs again the last
    /// entry stays, as protobuf has it.
    private mutating func sortEntries() throws {
        // Stable: entries with one key stay in the order in which they came.
        self.entries.sort { $0.key.lexicographicallyPrecedes($1.key) }
        var last = 0
        for index in self.entries.indices.dropFirst() {
            if self.entries[index].key.equals(self.entries[last].key) {
                // A decoder refuses the message for it, though the value does not count.
                guard self.entries[last].value.isValidUTF8 else { throw Unwritten.unusual }
            } else {
                last += 1
            }
            self.entries[last] = self.entries[index]
        }
        self.entries.removeSubrange((last + 1)...)
    }
}
