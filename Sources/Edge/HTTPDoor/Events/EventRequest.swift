internal import EventJSON
internal import Foundation
internal import JSON
internal import TrackingRules
internal import WireFormat

/// The events of a body in JSON as a RecordEventsRequest, and what is wrong with those that are
/// none.
///
/// An event that cannot be read has its place in the request, as bytes that are no event. So the
/// server judges, counts and answers it as any other that is malformed, in its order; only what is
/// wrong with it is told in other words.
struct EventRequest {
    /// What keeps a value of the body from being an event.
    struct Fault {
        /// Its id, if it has one.
        let eventID: String
        /// The field, in the names that it was sent with; empty for the whole.
        let field: String
        let code: Violation.Code
        let description: String
    }

    /// Bytes that no reader of protobuf takes: a field of number 0.
    private static let noEvent: [UInt8] = [0]
    /// What editors put before a text in UTF-8.
    private static let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    /// What a document that holds its events in an object calls them.
    private static let list = "events"

    /// The message's bytes.
    private(set) var message: [UInt8] = []
    /// The values that are no events, by their index.
    private(set) var faults: [Int: Fault] = [:]
    /// The number of events.
    private(set) var count = 0

    private let limits: Limits

    /// Reads a body.
    ///
    /// - Throws: a problem of the body as a whole.
    init(
        _ body: Bytes, _ form: EventForm, by table: EventTable, limits: Limits
    ) throws(Problem) {
        self.limits = limits
        let start = body.starts(with: Self.mark) ? Self.mark.count : 0
        let whole = body
        let body = Bytes(rebasing: body[start...])
        guard body.contains(where: { !$0.isJSONSpace }) else {
            throw .malformed(
                "the body is empty: send an event in JSON, an array of them, or one in each line")
        }
        var transcoder = EventTranscoder(body, by: table)
        transcoder.bytes.reserveCapacity(min(body.count, limits.requestBytes))
        switch form {
        case .lines: try self.readLines(of: body, &transcoder)
        case .unsaid where EventForm.form(of: body) == .lines:
            try self.readLines(of: body, &transcoder)
        case .document, .unsaid, .protobuf:
            do throws(DocumentFailure) {
                try self.readDocument(&transcoder)
            } catch {
                switch error {
                case .json(let fault): throw Problem(fault, in: whole, from: start)
                case .problem(let problem): throw problem
                }
            }
        }
        self.message = transcoder.bytes
    }

    /// Why a document is refused.
    private enum DocumentFailure: Error {
        case json(JSONFault)
        case problem(Problem)
    }

    // MARK: Documents

    private mutating func readDocument(
        _ transcoder: inout EventTranscoder
    ) throws(DocumentFailure) {
        if transcoder.cursor.start() == UInt8(ascii: "[") {
            try self.readList(&transcoder)
        } else if self.hasList(transcoder) {
            try self.readObject(&transcoder)
        } else {
            try self.readEvent(&transcoder)
        }
        do throws(JSONFault) {
            try transcoder.cursor.finish()
        } catch {
            guard transcoder.cursor.start() == UInt8(ascii: "{") else { throw .json(error) }
            throw .problem(
                .malformed(
                    "another object follows the first one: send an array, or one event in each "
                        + "line with content-type application/x-ndjson"))
        }
    }

    /// Whether a document is an object with the list of events, and not an event: that begins with
    /// one of its fields.
    private func hasList(_ transcoder: EventTranscoder) -> Bool {
        var cursor = transcoder.cursor
        guard cursor.start() == UInt8(ascii: "{") else { return false }
        do throws(JSONFault) {
            try cursor.enter(depth: 1)
            var isFirst = true
            while let name = try cursor.nextName(isFirst: isFirst) {
                isFirst = false
                if name.unescaped.elementsEqual(Self.list.utf8) { return true }
                if transcoder.isField(name) { return false }
                try cursor.pass(depth: 1)
            }
            return false
        } catch {
            // What is wrong is told by whoever reads the event.
            return false
        }
    }

    private mutating func readObject(_ transcoder: inout EventTranscoder) throws(DocumentFailure) {
        let first = try Self.json(&transcoder.cursor) { cursor throws(JSONFault) in
            try cursor.enter(depth: 1)
            return try cursor.nextName(isFirst: true)
        }
        if let first, !first.unescaped.elementsEqual(Self.list.utf8) { throw Self.beside(first) }
        guard transcoder.cursor.start() == UInt8(ascii: "[") else {
            throw .problem(.malformed("`\(Self.list)` has to be an array of events"))
        }
        try self.readList(&transcoder)
        let other = try Self.json(&transcoder.cursor) { cursor throws(JSONFault) in
            try cursor.nextName(isFirst: false)
        }
        if let other { throw Self.beside(other) }
    }

    /// The refusal of a member beside the list.
    private static func beside(_ other: JSONCursor.Text) -> DocumentFailure {
        let name = String(decoding: other.unescaped, as: UTF8.self)
        return .problem(
            .malformed(
                "`\(JSONValue.keyName(name).printable)` stands beside `\(Self.list)`, which has "
                    + "to be alone: send the events, and nothing else"))
    }

    private mutating func readList(_ transcoder: inout EventTranscoder) throws(DocumentFailure) {
        try Self.json(&transcoder.cursor) { cursor throws(JSONFault) in
            try cursor.enter(depth: 1)
        }
        var isFirst = true
        while try Self.json(
            &transcoder.cursor,
            { cursor throws(JSONFault) in
                try cursor.hasElement(isFirst: isFirst)
            })
        {
            isFirst = false
            try self.readEvent(&transcoder)
        }
    }

    private mutating func readEvent(_ transcoder: inout EventTranscoder) throws(DocumentFailure) {
        let fault: EventFault?
        do throws(JSONFault) {
            fault = try transcoder.append(as: FieldTag.RecordEventsRequest.events)
        } catch {
            throw .json(error)
        }
        do throws(Problem) {
            try self.add(fault.map(Fault.init), &transcoder)
        } catch {
            throw .problem(error)
        }
    }

    private static func json<Value>(
        _ cursor: inout JSONCursor,
        _ body: (inout JSONCursor) throws(JSONFault) -> Value
    ) throws(DocumentFailure) -> Value {
        do throws(JSONFault) {
            return try body(&cursor)
        } catch {
            throw .json(error)
        }
    }

    // MARK: Lines

    private mutating func readLines(
        of body: Bytes, _ transcoder: inout EventTranscoder
    ) throws(Problem) {
        var rest = body[...]
        var number = 0
        while !rest.isEmpty {
            let end = Self.endOfLine(in: rest)
            let line = Bytes(rebasing: rest[..<end])
            rest = rest[end...].dropFirst()
            number += 1
            guard line.contains(where: { !$0.isJSONSpace }) else { continue }
            try self.readLine(line, number, &transcoder)
        }
    }

    /// Where the first line of some bytes ends, of which there is at least one.
    private static func endOfLine(in bytes: Slice<Bytes>) -> Int {
        let start = bytes.base.baseAddress.map { $0 + bytes.startIndex }
        guard let start, let end = memchr(start, CInt(UInt8(ascii: "\n")), bytes.count) else {
            return bytes.endIndex
        }
        return bytes.startIndex + (UnsafeRawPointer(end) - start)
    }

    /// Reads a line. One that is no JSON is one event that is refused: the others are whole.
    private mutating func readLine(
        _ line: Bytes, _ number: Int, _ transcoder: inout EventTranscoder
    ) throws(Problem) {
        transcoder.begin(line)
        let count = transcoder.bytes.count
        var fault: Fault?
        do throws(JSONFault) {
            fault = try transcoder.append(as: FieldTag.RecordEventsRequest.events).map(Fault.init)
            try transcoder.cursor.finish()
        } catch {
            transcoder.bytes.removeSubrange(count...)
            fault = Fault(error, line: number)
        }
        try self.add(fault, &transcoder)
    }

    // MARK: Events

    /// Counts an event, which the transcoder has written unless there is a fault.
    private mutating func add(
        _ fault: Fault?, _ transcoder: inout EventTranscoder
    ) throws(Problem) {
        if let fault {
            self.faults[self.count] = fault
            transcoder.bytes.appendField(FieldTag.RecordEventsRequest.events, Self.noEvent)
        }
        self.count += 1
        guard self.count <= self.limits.requestEvents else {
            throw .tooLarge(
                "events", limit: self.limits.requestEvents, key: "limits.request_events")
        }
        guard transcoder.bytes.count <= self.limits.requestBytes else {
            throw .tooLarge(
                "bytes of events in protobuf's form", limit: self.limits.requestBytes,
                key: "limits.request_bytes")
        }
    }
}

extension EventRequest.Fault {
    /// A value that is JSON and no event.
    init(_ fault: EventFault) {
        self.eventID = fault.eventID
        self.field = fault.field
        self.description = fault.rule
        self.code =
            switch fault.kind {
            case .shape: .malformed
            case .format: .format
            case .range: .range
            case .conflict: .conflict
            case .size: .tooLarge
            }
    }

    /// A line that is no JSON.
    init(_ fault: JSONFault, line: Int) {
        self.eventID = ""
        self.field = ""
        self.code = .malformed
        self.description =
            "line \(line) is no JSON, \(fault.reason): write one event in JSON to a line"
    }
}
