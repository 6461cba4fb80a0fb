internal import JSON
internal import WireFormat

/// Why a value in JSON is no event: the first field that cannot be read.
package struct EventFault: Error, Equatable, CustomStringConvertible {
    /// The kinds of faults.
    package enum Kind: Sendable {
        /// A field that does not exist, or a value of another type.
        case shape
        /// A value of the right type that is malformed: not a time, not base64 or not UTF-8.
        case format
        /// A number outside of the field's range, or no name of its enum.
        case range
        /// A field that is there twice, or beside another one of its oneof.
        case conflict
        /// A payload that nests too deep.
        case size
    }

    /// What kind of fault it is.
    package let kind: Kind
    /// The names that lead to the field, as the document has them; none for the event itself.
    package private(set) var path: [String] = []
    /// What is there.
    package let seen: String
    /// What the field takes.
    package let wanted: String
    /// The offset of the field's name in the document; nil for the event itself.
    package private(set) var offset: Int?
    /// The event's own id, if the document has one.
    package internal(set) var eventID = ""

    init(_ kind: Kind, seen: String, wanted: String) {
        self.kind = kind
        self.seen = seen
        self.wanted = wanted
    }

    /// The same fault in a field of this name.
    func below(_ name: String, at offset: Int) -> EventFault {
        var fault = self
        fault.path.insert(name, at: 0)
        fault.offset = self.offset ?? offset
        return fault
    }

    /// The field's path in JSON, such as `push.apns._dId`; empty for the event itself.
    package var field: String {
        self.path.map(JSONValue.keyName).joined(separator: ".").printable
    }

    /// What is there, and what is wanted.
    package var rule: String { "\(self.seen), and has to be \(self.wanted)".printable }

    /// The field, what is there and what is wanted.
    package var description: String {
        "\(self.path.isEmpty ? "it" : "`\(self.field)`") is \(self.rule)"
    }
}

/// Why a transcoder stops.
enum EventFailure: Error {
    /// The text is no JSON, or the reader's rules forbid it.
    case json(JSONFault)
    /// The text is JSON and no event.
    case event(EventFault)

    /// The same failure in a field of this name.
    func below(_ name: @autoclosure () -> String, at offset: Int) -> EventFailure {
        switch self {
        case .json: self
        case .event(let fault): .event(fault.below(name(), at: offset))
        }
    }

    /// The failure of a field that takes `wanted`: what is JSON and cannot be taken, such as half
    /// of a surrogate pair, is the event's fault.
    func inField(taking wanted: @autoclosure () -> String) -> EventFailure {
        guard case .json(let fault) = self, fault.offset == nil else { return self }
        return .event(
            EventFault(.format, seen: "not to be read: \(fault.reason)", wanted: wanted()))
    }
}
