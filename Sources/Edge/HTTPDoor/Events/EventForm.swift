internal import HTTPTypes
internal import JSON
internal import WireFormat

/// How a body has its events.
enum EventForm {
    /// One document in JSON.
    case document
    /// A document in each line.
    case lines
    /// A RecordEventsRequest.
    case protobuf
    /// JSON of one or the other form: the client has not said.
    case unsaid

    /// The form that a request's media type names; nil for another type, or for a text that is no
    /// UTF-8.
    init?(of headers: HTTPFields) {
        guard Self.isUTF8(headers.value(.contentType) ?? "") else { return nil }
        switch MediaType(of: headers).name {
        case "": self = .unsaid
        case "application/json": self = .document
        case "application/x-ndjson", "application/ndjson", "application/jsonl": self = .lines
        case "application/x-protobuf", "application/protobuf": self = .protobuf
        default: return nil
        }
    }

    private static func isUTF8(_ type: String) -> Bool {
        // Most have no parameter.
        guard type.utf8.contains(UInt8(ascii: ";")) else { return true }
        return type.lowercased().split(separator: ";").dropFirst().allSatisfy { parameter in
            let text = parameter.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
            return !text.hasPrefix("charset=") || ["charset=utf-8", "charset=utf8"].contains(text)
        }
    }

    /// The form of a body whose form was not said: lines, if a whole document ends in one of them
    /// and something follows in another.
    static func form(of body: Bytes) -> EventForm {
        var cursor = JSONCursor(body, .event)
        guard cursor.start() == UInt8(ascii: "{") else { return .document }
        do throws(JSONFault) {
            try cursor.pass()
        } catch {
            // What is wrong is told of the document.
            return .document
        }
        let rest = body[cursor.offset...]
        guard let next = rest.firstIndex(where: { !$0.isJSONSpace }) else { return .document }
        return rest[..<next].contains(UInt8(ascii: "\n")) ? .lines : .document
    }
}

extension UInt8 {
    /// Whether JSON takes it for white space.
    var isJSONSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0a || self == 0x0d }
}
