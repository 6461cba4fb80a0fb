// Keys of a map that look alike. SwiftProtobuf takes them for one, and refuses the event.
internal import JSON
internal import SightlineProtos
internal import SwiftProtobuf

extension Sightline_V1_TrackingEvent {
    /// Reads an event of which a map may have keys that Swift's strings take for equal. One of them
    /// is given to SwiftProtobuf; the others follow the event as bytes. Whoever reads the event has
    /// all: a field that occurs again is merged.
    ///
    /// - Throws: `RepeatedKeyError`, `JSONFault`, or SwiftProtobuf's error.
    init(keysAlike json: [UInt8]) throws {
        let document = try JSONReader.whole(event: json)
        if let path = document.repetitions.first { throw RepeatedKeyError(path: path) }
        let parts = Self.parts(of: document.value).map { Array($0.text.utf8) }
        try self.init(jsonUTF8Bytes: parts[0])
        var others: [UInt8] = []
        for part in parts.dropFirst() {
            others += try Self(jsonUTF8Bytes: part).serializedBytes() as [UInt8]
        }
        // A message without fields keeps all bytes as those of unknown ones.
        self.unknownFields = try Google_Protobuf_Empty(serializedBytes: others).unknownFields
    }

    /// A value in parts that together have all of its members; in each of them, no two names of an
    /// object are equal for Swift's strings.
    private static func parts(of value: JSONValue) -> [JSONValue] {
        guard let members = value.objectValue else { return [value] }
        var parts = [JSONObject()]
        var counts: [String: Int] = [:]
        for (name, value) in members.inKeyOrder {
            let first = counts[name, default: 0]
            for (index, part) in Self.parts(of: value).enumerated() {
                if parts.count <= first + index { parts.append(JSONObject()) }
                parts[first + index][name] = part
            }
            counts[name] = first + 1
        }
        return parts.map { .object($0) }
    }
}

/// A key occurs twice in a map.
struct RepeatedKeyError: Error, CustomStringConvertible {
    let path: [String]

    /// The key, the rule and the fix.
    var description: String {
        "\(self.path.map(JSONValue.keyName).joined(separator: ".")) is there twice, with different "
            + "values: a map has each key once, so keep one of the two"
    }
}
