internal import JSON
internal import SightlineProtos
internal import SwiftProtobuf
internal import WireFormat

/// What an event in JSON may hold: the messages, fields and enums that TrackingEvent leads to, from
/// the descriptors of Protos. It drives the reader of events, the names in errors and the
/// description of the HTTP door, so that a new field has one place only.
package struct EventTable: Sendable {
    /// How a field's value is read.
    package enum Kind: Sendable, Equatable {
        case string
        case bool
        case int32
        /// An enum's value, by its name or number.
        case enumeration
        case message
        /// google.protobuf.Timestamp, as text in RFC 3339.
        case timestamp
        /// The same field as milliseconds since 1970.
        case milliseconds
        /// map<string, string>.
        case stringMap
        /// Bytes, which here are a payload's: JSON itself, or base64 as proto3 JSON has bytes.
        case json
    }

    /// A field of a message, or another form of one.
    package struct Field: Sendable {
        /// The name in JSON.
        package let jsonName: String
        /// The name in Protos, which JSON may have as well.
        package let name: String
        /// How its value is read.
        package let kind: Kind
        /// The index of its message or enum; 0 for other kinds.
        package let target: Int
        /// The oneof that it is a member of, by its index in the message; nil for none.
        package let oneof: Int?
        let number: UInt32
        /// Whether zero is written too: an optional field, or a member of a oneof.
        let hasPresence: Bool
        /// The same for all forms of a field.
        let bit: UInt64

        /// Whether it is the contract's own form of the field.
        package var isContracts: Bool { self.kind != .milliseconds }
    }

    /// A message.
    package struct Message: Sendable {
        /// The name in Protos.
        package let name: String
        /// Its fields, in the order of Protos.
        package let fields: [Field]
        /// Both names of each field, as bytes, with the field's index.
        let names: [(text: [UInt8], field: Int)]
    }

    /// An enum.
    package struct Enumeration: Sendable {
        /// The name in Protos.
        package let name: String
        /// The names and numbers of its values.
        package let values: [(name: String, number: Int32)]
        /// The names as bytes, with the numbers.
        let names: [(text: [UInt8], number: Int32)]

        init(name: String, values: [(name: String, number: Int32)]) {
            self.name = name
            self.values = values
            self.names = values.map { (text: Array($0.name.utf8), number: $0.number) }
        }

        /// The number of a name; nil if it is none.
        func number(of name: JSONCursor.Text) -> Int32? {
            guard !name.isEscaped else {
                let text = name.unescaped
                return self.names.first { $0.text == text }?.number
            }
            for place in self.names.indices where name.bytes.equals(self.names[place].text) {
                return self.names[place].number
            }
            return nil
        }
    }

    /// The messages; the first is the event.
    package let messages: [Message]
    /// The enums.
    package let enumerations: [Enumeration]

    /// The table of this build, which is made once.
    ///
    /// - Throws: an error of SwiftProtobuf if the descriptors that were compiled in are damaged.
    package static func own() throws -> EventTable { try Self.made.get() }

    private static let made = Result { try EventTable(EventTableMaker(DescriptorSet.files())) }

    init(_ maker: EventTableMaker) throws {
        var maker = maker
        (self.messages, self.enumerations) = try maker.tables(of: ".sightline.v1.TrackingEvent")
    }

    /// A field's path in the names of Protos, as violations have it, in those of JSON:
    /// `push.fcm.data.delivery_id` is `push.fcm.data._dId`. The name of a oneof becomes that of its
    /// kind in JSON, and what follows a payload or a map stays as it is.
    package func jsonPath(of path: String) -> String {
        var message: Message? = self.messages[0]
        let parts = path.split(separator: ".", omittingEmptySubsequences: false).map { part in
            guard let current = message else { return String(part) }
            let field = current.fields.first { $0.isContracts && $0.name.equals(String(part)) }
            guard let field else { return Self.camelCase(part) }
            message = field.kind == .message ? self.messages[field.target] : nil
            return field.jsonName
        }
        return parts.joined(separator: ".")
    }

    private static func camelCase(_ name: Substring) -> String {
        let words = name.split(separator: "_", omittingEmptySubsequences: false)
        return words.dropFirst().reduce(String(words.first ?? "")) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }
}
