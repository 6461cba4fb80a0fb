// Events in JSON to the bytes of protobuf, without a message in between: each field is written as
// it is read. SwiftProtobuf is the reference: EventTranscoderPropertyTests holds the two together.
package import JSON
package import WireFormat

/// Transcodes events in proto3 JSON. Beyond that, a payload may be JSON itself, whose bytes are
/// kept as they are, and a time may be given in milliseconds.
///
/// The bytes of an event have its fields in the order of their numbers, as protobuf libraries write
/// them: readers are fastest with these.
package struct EventTranscoder {
    /// The most objects and arrays that an event nests, and the most that a payload in it does: as
    /// many as SwiftProtobuf reads.
    package static let maxDepth = JSONRules.event.maxDepth
    /// Keys of a map beyond this number are compared by their hashes.
    private static let fewKeys = 64

    /// A field of a message that is open, in `bytes`.
    private struct Part {
        let number: UInt32
        let start: Int
        var end: Int
    }

    /// The events so far. The caller adds what stands between them.
    package var bytes: [UInt8] = []
    let table: EventTable
    private(set) var document: Bytes
    /// Where it reads: the caller passes over what stands between events.
    package var cursor: JSONCursor
    /// The fields of all open messages, the innermost one's last.
    private var parts: [Part] = []
    /// For fields that come out of order.
    private var scratch: [UInt8] = []

    /// Creates a transcoder that reads from the first byte of the document, which must outlive it.
    package init(_ document: Bytes, by table: EventTable) {
        self.table = table
        self.document = document
        self.cursor = JSONCursor(document, .event)
    }

    /// Goes on in another document, which must outlive it.
    package mutating func begin(_ document: Bytes) {
        self.document = document
        self.cursor = JSONCursor(document, .event)
    }

    /// Reads the event at the cursor and appends its bytes.
    ///
    /// - Parameter tag: that of the field whose value it is; nil for the event alone.
    /// - Returns: why it is no event; nothing is appended then, and the cursor is behind it.
    /// - Throws: a fault if the text is no JSON, or nests too deep.
    package mutating func append(as tag: UInt32? = nil) throws(JSONFault) -> EventFault? {
        _ = self.cursor.start()
        let (place, count) = (self.cursor.offset, self.bytes.count)
        do throws(EventFailure) {
            guard let tag else {
                try self.message(self.table.messages[0], depth: 1)
                return nil
            }
            try self.nested(tag) { coder throws(EventFailure) in
                try coder.message(coder.table.messages[0], depth: 1)
            }
            return nil
        } catch {
            self.bytes.removeSubrange(count...)
            self.parts.removeAll(keepingCapacity: true)
            // What is no JSON farther on is so whatever the event's fault is.
            let eventID = try self.pass(from: place)
            switch error.inField(taking: "an event") {
            case .json(let fault): throw fault
            case .event(var fault):
                fault.eventID = eventID
                return fault
            }
        }
    }

    /// Whether an event has a field of this name.
    package func isField(_ name: JSONCursor.Text) -> Bool {
        self.place(of: name, in: self.table.messages[0]) != nil
    }

    /// Passes over a value, and finds the id of an event that cannot be read.
    private mutating func pass(from place: Int) throws(JSONFault) -> String {
        var cursor = JSONCursor(self.document, Self.passedEvent, from: place)
        var eventID = ""
        if cursor.start() == UInt8(ascii: "{") {
            try cursor.enter(depth: 1)
            var isFirst = true
            while let name = try cursor.nextName(isFirst: isFirst) {
                isFirst = false
                let event = self.table.messages[0]
                let field = self.place(of: name, in: event).map { event.names[$0].field }
                if field == 0, cursor.start() == UInt8(ascii: "\"") {
                    eventID = String(decoding: try cursor.string().unescaped, as: UTF8.self)
                } else {
                    try cursor.pass(depth: 1)
                }
            }
        } else {
            try cursor.pass()
        }
        self.cursor.move(to: cursor.offset)
        return eventID
    }

    /// What is passed over: texts as a payload may have them.
    static let passed = JSONRules.payload.nested(upTo: EventTranscoder.maxDepth)
    /// The same for a whole event: a payload in it nests as deep as it may anywhere.
    private static let passedEvent = JSONRules.payload.nested(upTo: 2 * EventTranscoder.maxDepth)

    // MARK: Messages

    /// Reads a message's object and writes its fields.
    mutating func message(
        _ message: EventTable.Message, depth: Int
    ) throws(EventFailure) {
        guard self.cursor.start() == UInt8(ascii: "{") else {
            throw self.misfit("an object, a \(message.name)")
        }
        let (firstPart, start) = (self.parts.count, self.bytes.count)
        var (seen, oneofs): (UInt64, UInt64) = (0, 0)
        var place = 0
        try self.json { cursor throws(JSONFault) in try cursor.enter(depth: depth) }
        var isFirst = true
        while let name = try self.name(isFirst, of: message) {
            isFirst = false
            guard let found = self.place(of: name, in: message, from: place) else {
                throw self.unknown(name, in: message)
            }
            place = found + 1
            let field = message.fields[message.names[found].field]
            // As good as absent.
            if self.cursor.start() == UInt8(ascii: "n") {
                try self.json { cursor throws(JSONFault) in try cursor.pass(depth: depth) }
                continue
            }
            let oneof: UInt64 = field.oneof.map { 1 << UInt64($0) } ?? 0
            guard seen & field.bit == 0, oneofs & oneof == 0 else {
                throw self.second(name, field, seen, message)
            }
            seen |= field.bit
            oneofs |= oneof
            do throws(EventFailure) {
                try self.value(of: field, depth: depth)
            } catch {
                throw error.inField(taking: self.wanted(field))
                    .below(Self.text(name), at: name.offset)
            }
        }
        self.order(from: firstPart, start: start)
    }

    private mutating func name(
        _ isFirst: Bool, of message: EventTable.Message
    ) throws(EventFailure) -> JSONCursor.Text? {
        do throws(EventFailure) {
            return try self.json { cursor throws(JSONFault) in
                try cursor.nextName(isFirst: isFirst)
            }
        } catch {
            throw error.inField(taking: "an object, a \(message.name)")
        }
    }

    /// Reads with the cursor.
    @inline(__always)
    mutating func json<Value>(
        _ body: (inout JSONCursor) throws(JSONFault) -> Value
    ) throws(EventFailure) -> Value {
        do throws(JSONFault) {
            return try body(&self.cursor)
        } catch {
            throw .json(error)
        }
    }

    /// Where a name stands among a message's. Fields mostly come in their order, so the search
    /// begins behind the last one.
    private func place(
        of name: JSONCursor.Text, in message: EventTable.Message, from start: Int = 0
    ) -> Int? {
        let names = message.names
        guard !name.isEscaped else {
            let text = name.unescaped
            return names.firstIndex { $0.text == text }
        }
        for place in start..<names.count where name.bytes.equals(names[place].text) {
            return place
        }
        for place in 0..<start where name.bytes.equals(names[place].text) { return place }
        return nil
    }

    // MARK: The wire

    /// Writes a message's fields, whose length stands before them.
    @inline(__always)
    mutating func nested(
        _ tag: UInt32, _ body: (inout EventTranscoder) throws(EventFailure) -> Void
    ) throws(EventFailure) {
        self.bytes.appendVarint(UInt64(tag))
        // Most messages have less than 128 bytes.
        self.bytes.append(0)
        let start = self.bytes.count
        try body(&self)
        let count = self.bytes.count - start
        guard count >= 0x80 else {
            self.bytes[start - 1] = UInt8(count)
            return
        }
        var length: [UInt8] = []
        length.appendVarint(UInt64(count))
        self.bytes.replaceSubrange((start - 1)..<start, with: length)
    }

    /// Writes a field of the innermost open message.
    @inline(__always)
    mutating func part(
        _ field: EventTable.Field, _ body: (inout EventTranscoder) throws(EventFailure) -> Void
    ) throws(EventFailure) {
        let start = self.bytes.count
        let index = self.parts.count
        self.parts.append(Part(number: field.number, start: start, end: start))
        try body(&self)
        self.parts[index].end = self.bytes.count
    }

    /// Brings the fields of a message that ends into the order of their numbers.
    private mutating func order(from first: Int, start: Int) {
        defer { self.parts.removeSubrange(first...) }
        let parts = self.parts[first...]
        guard zip(parts, parts.dropFirst()).contains(where: { $0.number > $1.number }) else {
            return
        }
        self.scratch.removeAll(keepingCapacity: true)
        for part in parts.sorted(by: { $0.number < $1.number }) {
            self.scratch += self.bytes[part.start..<part.end]
        }
        self.bytes.replaceSubrange(start..., with: self.scratch)
    }

    // MARK: Maps

    /// A key of a map.
    private struct Key {
        let name: JSONCursor.Text
        /// What it is with its escapes resolved; nil if it has none.
        let unescaped: [UInt8]?

        var count: Int { self.unescaped?.count ?? self.name.bytes.count }

        func equals(_ other: Key) -> Bool {
            guard self.count == other.count else { return false }
            guard let unescaped = self.unescaped else {
                return other.unescaped.map { self.name.bytes.equals($0) }
                    ?? self.name.bytes.equals(other.name.bytes)
            }
            return other.unescaped.map { $0 == unescaped } ?? other.name.bytes.equals(unescaped)
        }
    }

    /// Reads a map's entries.
    mutating func stringMap(_ field: EventTable.Field, depth: Int) throws(EventFailure) {
        guard self.cursor.start() == UInt8(ascii: "{") else { throw self.misfit("an object") }
        try self.json { cursor throws(JSONFault) in try cursor.enter(depth: depth + 1) }
        var keys: [Key] = []
        var others: Set<[UInt8]> = []
        var isFirst = true
        while let name = try self.json({ cursor throws(JSONFault) in
            try cursor.nextName(isFirst: isFirst)
        }) {
            isFirst = false
            let key = Key(name: name, unescaped: name.isEscaped ? name.unescaped : nil)
            do throws(EventFailure) {
                try self.entry(field, key)
            } catch {
                throw error.inField(taking: "a string").below(Self.text(name), at: name.offset)
            }
            guard Self.isNew(key, among: &keys, &others) else {
                let fault = EventFault(.conflict, seen: "there twice", wanted: "there once")
                throw .event(fault.below(Self.text(name), at: name.offset))
            }
        }
    }

    /// Notes a key. The first ones are compared in place; those beyond them, of which no sound map
    /// has any, by their hashes.
    private static func isNew(
        _ key: Key, among keys: inout [Key], _ others: inout Set<[UInt8]>
    ) -> Bool {
        guard !keys.contains(where: { $0.equals(key) }) else { return false }
        if keys.count < Self.fewKeys {
            keys.append(key)
            return true
        }
        return others.insert(key.unescaped ?? Array(key.name.bytes)).inserted
    }

    private mutating func entry(
        _ field: EventTable.Field, _ key: Key
    ) throws(EventFailure) {
        let lengthDelimited = WireType.lengthDelimited
        try self.nested(field.number << 3 | lengthDelimited) { coder throws(EventFailure) in
            try coder.write(key.name, tag: 1 << 3 | lengthDelimited)
            guard coder.cursor.start() == UInt8(ascii: "\"") else {
                throw coder.misfit("a string")
            }
            let value = try coder.json { cursor throws(JSONFault) in try cursor.string() }
            try coder.write(value, tag: 2 << 3 | lengthDelimited)
        }
    }
}
