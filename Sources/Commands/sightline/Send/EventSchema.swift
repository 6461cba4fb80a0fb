// What an event's JSON may hold, from the descriptors of Protos: SwiftProtobuf says that something
// is wrong in a line, and not where.
internal import JSON
internal import SightlineProtos
internal import SwiftProtobuf
internal import WireFormat

/// The messages and enums of Protos.
struct EventSchema: Sendable {
    /// A field of an event whose value cannot be read.
    struct Fault: CustomStringConvertible {
        /// The names that lead to the field, as the line has them; none for the event itself.
        let path: [String]
        /// What is there.
        let seen: String
        /// What the field takes.
        let wanted: String

        /// The field, what is there and what is wanted.
        var description: String {
            let names = self.path.map(JSONValue.keyName).joined(separator: ".")
            let field = self.path.isEmpty ? "it" : "`\(names)`"
            return "\(field) is \(self.seen), and has to be \(self.wanted)".printable
        }
    }

    /// The schema of this build; nil if its descriptors are damaged: faults are then told without
    /// their fields.
    static let own: EventSchema? = try? EventSchema(DescriptorSet.files())

    private static let event = ".sightline.v1.TrackingEvent"
    private static let timestamp = ".google.protobuf.Timestamp"

    private typealias Field = Google_Protobuf_FieldDescriptorProto

    private var messages: [String: Google_Protobuf_DescriptorProto] = [:]
    private var enums: [String: Google_Protobuf_EnumDescriptorProto] = [:]

    private init(_ files: [Google_Protobuf_FileDescriptorProto]) {
        for file in files {
            for message in file.messageType { self.add(message, in: ".\(file.package)") }
            for declared in file.enumType {
                self.enums[".\(file.package).\(declared.name)"] = declared
            }
        }
    }

    private mutating func add(_ message: Google_Protobuf_DescriptorProto, in scope: String) {
        let name = "\(scope).\(message.name)"
        self.messages[name] = message
        for nested in message.nestedType { self.add(nested, in: name) }
        for declared in message.enumType { self.enums["\(name).\(declared.name)"] = declared }
    }

    /// The first field, by the order of names, that keeps an event from being read; nil if it is
    /// none of the faults that are known here.
    func fault(in event: JSONValue) -> Fault? { self.fault(in: event, of: Self.event, at: []) }

    // MARK: Messages

    private func fault(in value: JSONValue, of type: String, at path: [String]) -> Fault? {
        guard type != Self.timestamp else {
            let isTime = Self.reads(value, as: Google_Protobuf_Timestamp.self)
            return isTime ? nil : Self.fault(value, "a time such as \"2026-01-31T12:00:00Z\"", path)
        }
        guard let message = self.messages[type] else { return nil }
        guard let members = value.objectValue else {
            return Self.fault(value, "an object, a \(message.name)", path)
        }
        var chosen: [Int32: String] = [:]
        for (name, value) in members.inKeyOrder {
            let path = path + [name]
            guard let field = Self.field(name, of: message) else {
                return Fault(
                    path: path, seen: "unknown: \(value.excerpt)",
                    wanted: "one of the fields of a \(message.name): "
                        + message.field.map(\.jsonName).joined(separator: ", ")
                        + " (keys of a payload that Campaign does not define go into customFields)")
            }
            // As good as absent.
            if value == .null { continue }
            if field.hasOneofIndex, let other = chosen.updateValue(name, forKey: field.oneofIndex) {
                return Fault(
                    path: path, seen: "beside `\(other)`", wanted: "alone: only one counts")
            }
            if let fault = self.fault(in: value, of: field, at: path) { return fault }
        }
        return nil
    }

    /// A field by either of its names, which are bytes.
    private static func field(
        _ name: String, of message: Google_Protobuf_DescriptorProto
    ) -> Field? {
        message.field.first { field in
            field.jsonName.utf8.elementsEqual(name.utf8) || field.name.utf8.elementsEqual(name.utf8)
        }
    }

    // MARK: Values

    private func fault(in value: JSONValue, of field: Field, at path: [String]) -> Fault? {
        guard field.label == .repeated else {
            return self.fault(inOne: value, of: field, at: path)
        }
        if let entry = self.messages[field.typeName], entry.options.mapEntry,
            let inner = entry.field.first(where: { $0.number == 2 })
        {
            guard let members = value.objectValue else {
                return Self.fault(value, "an object", path)
            }
            return members.inKeyOrder.lazy.compactMap { name, value in
                self.fault(inOne: value, of: inner, at: path + [name])
            }.first
        }
        guard case .array(let elements) = value else { return Self.fault(value, "an array", path) }
        return elements.lazy.compactMap { self.fault(inOne: $0, of: field, at: path) }.first
    }

    private func fault(inOne value: JSONValue, of field: Field, at path: [String]) -> Fault? {
        switch field.type {
        case .message: return self.fault(in: value, of: field.typeName, at: path)
        case .enum:
            let names = self.enums[field.typeName]?.value.map(\.name) ?? []
            let isKnown = value.stringValue.map { text in
                names.contains { $0.utf8.elementsEqual(text.utf8) }
            }
            guard !(isKnown ?? (value.int32Value != nil)) else { return nil }
            return Self.fault(value, "one of \(names.joined(separator: ", "))", path)
        case .bool:
            let isBool = Self.reads(value, as: Google_Protobuf_BoolValue.self)
            return isBool ? nil : Self.fault(value, "true or false", path)
        case .string:
            return value.stringValue == nil ? Self.fault(value, "a string", path) : nil
        case .int32:
            let isInteger = Self.reads(value, as: Google_Protobuf_Int32Value.self)
            return isInteger ? nil : Self.fault(value, "an integer of 32 bits", path)
        case .bytes:
            guard !Self.reads(value, as: Google_Protobuf_BytesValue.self) else { return nil }
            return Self.fault(
                value,
                "bytes in base64, as a string (--platform and --interaction send a payload as it "
                    + "is)", path)
        default: return nil  // No field of an event has another type.
        }
    }

    private static func fault(_ value: JSONValue, _ wanted: String, _ path: [String]) -> Fault {
        Fault(path: path, seen: value.described, wanted: wanted)
    }

    /// Whether SwiftProtobuf takes a value for one of this type.
    private static func reads<Value: SwiftProtobuf.Message>(
        _ value: JSONValue, as type: Value.Type
    ) -> Bool {
        // What it throws says nothing that is told here.
        (try? Value(jsonString: value.text)) != nil
    }
}
