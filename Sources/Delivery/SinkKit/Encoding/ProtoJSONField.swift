/// A field of a message as proto3 JSON writes it.
package struct ProtoJSONField: Sendable {
    /// The number on the wire.
    package let number: Int
    /// The JSON name.
    package let name: String
    /// What the field holds.
    package let value: Value
    /// Whether zero is written too: an optional field, or a member of a oneof.
    package let hasPresence: Bool
    /// The index of its oneof in the message, if it is a member of one.
    package let oneof: Int?

    /// What a field holds.
    package enum Value: Sendable {
        case string
        case bool
        case int32
        /// The names by their numbers.
        case enumeration([Int32: String])
        /// The message's index in its schema.
        case message(Int)
        /// google.protobuf.Timestamp.
        case timestamp
        /// map<string, string>.
        case stringMap
        /// Bytes, which JSON has in base64.
        case bytes
        /// Anything else. A message that has such a field is not written.
        case other
    }

    /// Creates a field.
    package init(number: Int, name: String, value: Value, hasPresence: Bool, oneof: Int?) {
        self.number = number
        self.name = name
        self.value = value
        self.hasPresence = hasPresence
        self.oneof = oneof
    }
}
