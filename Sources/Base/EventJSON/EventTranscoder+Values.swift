// The values of an event's fields.
internal import JSON
internal import WireFormat

extension EventTranscoder {
    /// Reads the value at the cursor and writes the field.
    mutating func value(of field: EventTable.Field, depth: Int) throws(EventFailure) {
        let tag = field.number << 3 | (field.kind.isVarint ? 0 : WireType.lengthDelimited)
        try self.part(field) { coder throws(EventFailure) in
            switch field.kind {
            case .string:
                let text = try coder.string("a string")
                guard field.hasPresence || !text.bytes.isEmpty else { return }
                try coder.write(text, tag: tag)
            case .bool: coder.write(try coder.bool() ? 1 : 0, of: field, tag)
            case .int32: coder.write(try coder.int32(), of: field, tag)
            case .enumeration:
                let values = coder.table.enumerations[field.target]
                coder.write(try coder.number(of: values), of: field, tag)
            case .message:
                let message = coder.table.messages[field.target]
                try coder.nested(tag) { coder throws(EventFailure) in
                    try coder.message(message, depth: depth + 1)
                }
            case .timestamp: coder.write(try coder.time(), tag)
            case .milliseconds: coder.write(try coder.milliseconds(), tag)
            case .stringMap: try coder.stringMap(field, depth: depth)
            case .json: try coder.json(field, tag)
            }
        }
    }

    /// What a field takes, for whoever gave something else.
    func wanted(_ field: EventTable.Field) -> String {
        switch field.kind {
        case .string: "a string"
        case .bool: "true or false"
        case .int32: "an integer of 32 bits"
        case .enumeration: Self.names(of: self.table.enumerations[field.target])
        case .message: "an object, a \(self.table.messages[field.target].name)"
        case .timestamp: Self.timeRule
        case .milliseconds: Self.millisecondsRule
        case .stringMap: "an object"
        case .json: Self.jsonRule
        }
    }

    private static let timeRule =
        "a time such as \"2026-01-31T12:00:00Z\", of the years 1 to 9999"
    private static let millisecondsRule =
        "milliseconds since 1970 as an integer, of the years 1 to 9999"
    private static let jsonRule =
        "the payload itself, an object, or its bytes in base64 as a string"

    private static func names(of enumeration: EventTable.Enumeration) -> String {
        "one of \(enumeration.values.map(\.name).joined(separator: ", "))"
    }

    // MARK: Faults

    /// A value that is not what the field takes: it is read to say what it is.
    mutating func misfit(_ wanted: String, _ kind: EventFault.Kind = .shape) -> EventFailure {
        .event(EventFault(kind, seen: self.described(), wanted: wanted))
    }

    /// The maximum bytes of an object or an array that a fault quotes; a larger one is told by its
    /// size. Its values can take more than a hundred times its bytes: each repeated name keeps a
    /// path of up to `maxDepth` names.
    package static let maxDescribedBytes = 16 * 1024

    private func described(_ text: (JSONValue) -> String = \.described) -> String {
        var cursor = JSONCursor(self.document, Self.passed, from: self.cursor.offset)
        let first = cursor.start()
        let place = cursor.offset
        do throws(JSONFault) {
            try cursor.pass()
            let count = cursor.offset - place
            if count > Self.maxDescribedBytes {
                if first == UInt8(ascii: "{") { return "an object of \(count) bytes" }
                if first == UInt8(ascii: "[") { return "an array of \(count) bytes" }
            }
            cursor.move(to: place)
            return text(try cursor.value())
        } catch {
            // If it is no JSON, that is what is told in the end.
            return "not to be read: \(error.reason)"
        }
    }

    /// A field that the message does not have.
    mutating func unknown(
        _ name: JSONCursor.Text, in message: EventTable.Message
    ) -> EventFailure {
        let text = Self.text(name)
        let known = message.fields.map(\.jsonName)
        let names = known + message.fields.map(\.name).filter { !known.contains($0) }
        let map = message.fields.first { $0.kind == .stringMap }?.jsonName
        let fault = EventFault(
            .shape, seen: "unknown: \(self.described(\.excerpt))",
            wanted: "one of the fields of a \(message.name): \(known.joined(separator: ", "))"
                + (map.map { " (keys that are not listed go into \($0), as strings)" } ?? "")
                + NearestName.suggestion(for: text, among: names))
        return .event(fault.below(text, at: name.offset))
    }

    /// A field that is there already, or beside another one of its oneof.
    func second(
        _ name: JSONCursor.Text, _ field: EventTable.Field, _ seen: UInt64,
        _ message: EventTable.Message
    ) -> EventFailure {
        let fault: EventFault
        if seen & field.bit != 0 {
            fault = EventFault(.conflict, seen: "there twice", wanted: "there once, in one form")
        } else {
            let other = message.fields.first { seen & $0.bit != 0 && $0.oneof == field.oneof }
            fault = EventFault(
                .conflict, seen: "beside `\(other?.jsonName ?? "")`",
                wanted: "alone: only one counts")
        }
        return .event(fault.below(Self.text(name), at: name.offset))
    }

    /// A name as it is told.
    static func text(_ name: JSONCursor.Text) -> String {
        String(decoding: name.unescaped, as: UTF8.self)
    }

    // MARK: Texts and numbers

    private mutating func string(
        _ wanted: @autoclosure () -> String
    ) throws(EventFailure) -> JSONCursor.Text {
        guard self.cursor.start() == UInt8(ascii: "\"") else { throw self.misfit(wanted()) }
        return try self.json { cursor throws(JSONFault) in try cursor.string() }
    }

    /// Writes a text, which has to be UTF-8.
    mutating func write(_ text: JSONCursor.Text, tag: UInt32) throws(EventFailure) {
        guard text.bytes.isValidUTF8 else {
            throw .event(EventFault(.format, seen: "no UTF-8", wanted: "a string in UTF-8"))
        }
        if text.isEscaped {
            self.bytes.appendField(tag, text.unescaped)
        } else {
            self.bytes.appendField(tag, text.bytes)
        }
    }

    /// Writes a number, unless it is a zero that proto3 leaves out.
    private mutating func write(_ value: Int32, of field: EventTable.Field, _ tag: UInt32) {
        guard field.hasPresence || value != 0 else { return }
        self.bytes.appendVarint(UInt64(tag))
        self.bytes.appendVarint(UInt64(bitPattern: Int64(value)))
    }

    private mutating func bool() throws(EventFailure) -> Bool {
        guard let first = self.cursor.start(),
            first == UInt8(ascii: "t") || first == UInt8(ascii: "f")
        else { throw self.misfit("true or false") }
        return try self.json { cursor throws(JSONFault) in try cursor.value() } == .bool(true)
    }

    /// A number, which proto3 JSON may have in quotes.
    private mutating func integer() throws(EventFailure) -> Int64? {
        switch self.cursor.start() {
        case UInt8(ascii: "-"), (UInt8(ascii: "0")...UInt8(ascii: "9"))?:
            return try self.json { cursor throws(JSONFault) in try cursor.value() }.integerValue
        case UInt8(ascii: "\""):
            let text = try self.json { cursor throws(JSONFault) in try cursor.string() }
            var inner = JSONCursor(text.bytes, .event)
            guard !text.isEscaped, let first = text.bytes.first,
                first == UInt8(ascii: "-") || (0x30...0x39).contains(first)
            else { return nil }
            do throws(JSONFault) {
                let value = try inner.value().integerValue
                // A number ends where its text does: `value` passes over nothing behind it.
                return inner.offset == text.bytes.count ? value : nil
            } catch {
                return nil
            }
        default: return nil
        }
    }

    private mutating func int32() throws(EventFailure) -> Int32 {
        let place = self.cursor.offset
        let isNumber = self.startsNumber()
        if let value = try self.integer().flatMap({ Int32(exactly: $0) }) { return value }
        self.cursor.move(to: place)
        throw self.misfit("an integer of 32 bits", isNumber ? .range : .shape)
    }

    private mutating func startsNumber() -> Bool {
        let first = self.cursor.start()
        return first == UInt8(ascii: "-") || first.map { (0x30...0x39).contains($0) } ?? false
    }

    private mutating func number(
        of enumeration: EventTable.Enumeration
    ) throws(EventFailure) -> Int32 {
        let place = self.cursor.offset
        if self.cursor.start() == UInt8(ascii: "\"") {
            let text = try self.json { cursor throws(JSONFault) in try cursor.string() }
            if let value = enumeration.number(of: text) { return value }
        } else if self.startsNumber(),
            let value = try self.integer().flatMap({ Int32(exactly: $0) })
        {
            return value
        }
        self.cursor.move(to: place)
        let isShape = self.cursor.start() != UInt8(ascii: "\"") && !self.startsNumber()
        throw self.misfit(Self.names(of: enumeration), isShape ? .shape : .range)
    }

    // MARK: Times and payloads

    private mutating func write(_ time: EventTime, _ tag: UInt32) {
        let (seconds, nanos) = (UInt64(bitPattern: time.seconds), UInt64(time.nanos))
        let count =
            (seconds == 0 ? 0 : 1 + seconds.varintCount) + (nanos == 0 ? 0 : 1 + nanos.varintCount)
        self.bytes.appendHead(tag, count: count)
        self.bytes.appendNumber(1 << 3, seconds)
        self.bytes.appendNumber(2 << 3, nanos)
    }

    private mutating func time() throws(EventFailure) -> EventTime {
        let place = self.cursor.offset
        let text = try self.string(Self.timeRule)
        // Some writers escape the `+` of a zone.
        let time =
            text.isEscaped
            ? text.unescaped.withUnsafeBytes { EventTime(text: $0) } : EventTime(text: text.bytes)
        if let time { return time }
        self.cursor.move(to: place)
        throw self.misfit(Self.timeRule, .format)
    }

    private mutating func milliseconds() throws(EventFailure) -> EventTime {
        let place = self.cursor.offset
        let isNumber = self.startsNumber()
        if let time = try self.integer().flatMap({ EventTime(milliseconds: $0) }) { return time }
        self.cursor.move(to: place)
        throw self.misfit(Self.millisecondsRule, isNumber ? .range : .shape)
    }

    /// Reads a payload: JSON, whose bytes are kept, or base64.
    private mutating func json(_ field: EventTable.Field, _ tag: UInt32) throws(EventFailure) {
        let first = self.cursor.start()
        let place = self.cursor.offset
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            // Of the texts in it nothing is asked here: the server's rules read them.
            var payload = JSONCursor(self.document, Self.passed, from: place)
            do throws(JSONFault) {
                try payload.pass()
            } catch {
                guard error.isTooDeep else { throw .json(error) }
                // As with the payload's other limits, only its event is refused.
                let seen = "nested deeper than \(Self.maxDepth) levels"
                throw .event(EventFault(.size, seen: seen, wanted: Self.jsonRule))
            }
            self.cursor.move(to: payload.offset)
            self.bytes.appendField(tag, Bytes(rebasing: self.document[place..<payload.offset]))
            return
        }
        let text = try self.string(Self.jsonRule)
        guard let bytes = Base64.decode(text.unescaped) else {
            self.cursor.move(to: place)
            throw self.misfit(Self.jsonRule, .format)
        }
        guard field.hasPresence || !bytes.isEmpty else { return }
        self.bytes.appendField(tag, bytes)
    }
}

extension EventTable.Kind {
    fileprivate var isVarint: Bool {
        switch self {
        case .bool, .int32, .enumeration: true
        case .string, .message, .timestamp, .milliseconds, .stringMap, .json: false
        }
    }
}
