internal import SwiftProtobuf

/// The messages and enums that Protos declare, by their full names with a leading dot: what
/// JSONLines knows of a record's JSON, so that a new field has one place only.
struct ProtoDescriptors {
    private var messages: [String: Google_Protobuf_DescriptorProto] = [:]
    private var enumerations: [String: Google_Protobuf_EnumDescriptorProto] = [:]

    /// Indexes the files in proto3; others have rules of their own.
    init(_ files: [Google_Protobuf_FileDescriptorProto]) {
        for file in files where file.syntax == "proto3" {
            let scope = "." + file.package
            for message in file.messageType { self.add(message, in: scope) }
            for declared in file.enumType { self.add(declared, in: scope) }
        }
    }

    private mutating func add(_ message: Google_Protobuf_DescriptorProto, in scope: String) {
        let name = "\(scope).\(message.name)"
        self.messages[name] = message
        for nested in message.nestedType { self.add(nested, in: name) }
        for declared in message.enumType { self.add(declared, in: name) }
    }

    private mutating func add(_ declared: Google_Protobuf_EnumDescriptorProto, in scope: String) {
        self.enumerations["\(scope).\(declared.name)"] = declared
    }

    /// The names of an enum's values by their numbers; nil for an enum of google.protobuf, of
    /// which one is written in a way of its own, and for one with two names for a number.
    func names(ofEnum name: String) -> [Int32: String]? {
        guard let declared = self.enumerations[name], !Self.isWellKnown(name) else { return nil }
        let names = declared.value.map { ($0.number, $0.name) }
        let byNumber = Dictionary(names) { first, _ in first }
        return byNumber.count == names.count ? byNumber : nil
    }

    /// A message, with index 0, and all messages that it leads to.
    func schema(of root: String) -> ProtoJSONSchema {
        var names = [root]
        var fields: [[ProtoJSONField]] = []
        // Grows while it is gone through: each message adds those that it mentions first.
        while fields.count < names.count {
            let message = self.messages[names[fields.count]]
            fields.append((message?.field ?? []).map { self.field($0, &names) })
        }
        return ProtoJSONSchema(fields)
    }

    private func field(
        _ field: Google_Protobuf_FieldDescriptorProto, _ messages: inout [String]
    ) -> ProtoJSONField {
        ProtoJSONField(
            number: Int(field.number), name: field.jsonName, value: self.value(field, &messages),
            hasPresence: field.hasOneofIndex,
            oneof: field.hasOneofIndex ? Int(field.oneofIndex) : nil)
    }

    private func value(
        _ field: Google_Protobuf_FieldDescriptorProto, _ messages: inout [String]
    ) -> ProtoJSONField.Value {
        let type = field.typeName
        guard field.label != .repeated else { return self.isStringMap(field) ? .stringMap : .other }
        switch field.type {
        case .string: return .string
        case .bool: return .bool
        case .bytes: return .bytes
        case .int32: return .int32
        case .enum: return self.names(ofEnum: type).map { .enumeration($0) } ?? .other
        case .message where type == ".google.protobuf.Timestamp": return .timestamp
        case .message where self.messages[type] != nil && !Self.isWellKnown(type):
            if let index = messages.firstIndex(of: type) { return .message(index) }
            messages.append(type)
            return .message(messages.count - 1)
        default: return .other
        }
    }

    private func isStringMap(_ field: Google_Protobuf_FieldDescriptorProto) -> Bool {
        guard field.type == .message, let entry = self.messages[field.typeName] else {
            return false
        }
        return entry.options.mapEntry && entry.field.allSatisfy { $0.type == .string }
    }

    private static func isWellKnown(_ type: String) -> Bool { type.hasPrefix(".google.protobuf.") }
}
